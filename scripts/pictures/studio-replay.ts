import type { TestBrowser } from '../../test/support/browser/browser.ts'
import { nothingWrong, visit } from '../../test/support/browser/visit.ts'
import type { RunningTestServer } from '../../test/support/server.ts'

/** So many events of its end are not there yet. */
const before = 15

/** The newest turn of a session, from its export, as it was while its answer came. */
export async function replayPicture(
  chromium: TestBrowser,
  { url, call }: RunningTestServer,
  sessionId: string,
  viewport: { width: number; height: number },
): Promise<Uint8Array> {
  const { text } = await call('GET', `/api/v1/sessions/${sessionId}/export`)
  const look = { viewport, colorScheme: 'light', reducedMotion: 'reduce' } as const
  const { page, end } = await visit(chromium, url, '/studio/file', look)
  const file = { name: 'allowance.jsonl', mimeType: 'application/x-ndjson', buffer: Buffer.from(text) }
  await page.getByLabel('File to look at').setInputFiles(file)
  const turn = page.getByRole('article').last()
  await turn.getByRole('button', { name: /completed/ }).click()
  await page.getByRole('row', { name: /^run handbook/ }).click()
  for (let event = 0; event < before; event++) await page.keyboard.press(',')
  await page
    .getByRole('group', { name: 'Replay' })
    .getByText(/event \d+ of/)
    .waitFor()
  await turn.getByText('Abroad the daily allowance is').waitFor()
  await turn.getByText('Hand in the receipts').waitFor({ state: 'detached' })
  await page.mouse.move(0, 0)
  const png = await page.screenshot({ animations: 'disabled' })
  const wrong = await end()
  if (JSON.stringify(wrong) !== JSON.stringify(nothingWrong))
    throw new Error(`The page complains: ${JSON.stringify(wrong)}`)
  return png
}

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { agent } from '../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import type { TestBrowser } from '../../test/support/browser/browser.ts'
import { nothingWrong, visit } from '../../test/support/browser/visit.ts'
import { startServer } from '../../test/support/server.ts'

const tests = '/api/v1/dev/tests'
/** By the name of the test: what is asked. */
const questions = {
  'booking-trains': 'Which trains may I book?',
  'closing-time': 'When do you close in summer?',
  'daily-allowance': 'What is the daily allowance abroad?',
  'lost-receipts': 'What if I lost a receipt?',
  'new-laptop': 'When do I get a new laptop?',
  'opening-hours': 'When do you open in winter?',
  parking: 'Where can visitors park?',
  'refund-order': 'Please refund order 4711',
} as const

/** A project's tests after an instruction was changed: four runs, and the test that fails now. */
export async function testsPicture(
  chromium: TestBrowser,
  viewport: { width: number; height: number },
): Promise<Uint8Array> {
  let isChanged = false
  let parked = 0
  const answers: Readonly<Record<string, () => string>> = {
    'Where can visitors park?': () => (parked++ % 3 === 1 ? 'In front of the house.' : 'Behind the house.'),
    'When do you open in winter?': () =>
      isChanged
        ? 'From November to March at ten, on Saturdays too.'
        : 'From November to March at nine, on Saturdays at ten.',
  }
  const desk = agent({ run: ({ text }) => answers[text]?.() ?? 'As the handbook says.' })
  const handbook = agent({
    model: scriptedModel(() => ({ text: 'As it says.', usage: { input_tokens: 610, output_tokens: 9 } })),
  })
  const server = await startServer({}, { desk, handbook }, { withTests: true })
  try {
    for (const [name, input] of Object.entries(questions)) {
      const id = answers[input] === undefined ? 'handbook' : 'desk'
      const { session_id } = (await server.call('POST', `/api/v1/agents/${id}/run`, { input })).json
      await server.call('POST', tests, { session_id, name })
      const file = join(server.folder, `test/${name}.session.json`)
      const saved = JSON.parse(await readFile(file, 'utf8'))
      const scorers = {
        short: { contains: name === 'lost-receipts' ? ['it', 'thirty days'] : [id === 'desk' ? 'e' : 'it'] },
      }
      await writeFile(file, JSON.stringify({ ...saved, scorers }))
    }
    for (const body of [{}, { times: 3 }, { mode: 'scores' }]) await server.call('POST', `${tests}/run`, body)
    isChanged = true
    const { page, end } = await visit(chromium, server.url, '/studio/tests/test%2Fopening-hours', {
      viewport,
      colorScheme: 'light',
      reducedMotion: 'reduce',
    })
    await page.getByRole('button', { name: 'Run all' }).click()
    await page.locator('ins', { hasText: 'ten' }).first().waitFor()
    await page.getByText(/1 flaky|7 passed, 1 failed/).waitFor()
    await page.mouse.move(0, 0)
    await page.evaluate('document.activeElement.blur()')
    const png = await page.screenshot({ animations: 'disabled' })
    const wrong = await end()
    if (JSON.stringify(wrong) !== JSON.stringify(nothingWrong))
      throw new Error(`The page complains: ${JSON.stringify(wrong)}`)
    return png
  } finally {
    await server.close()
  }
}

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import type { Instance } from '../../support/cluster/instances.ts'
import { ownInstances } from '../../support/cluster/own-instances.ts'
import { ask } from '../../support/cluster/requests.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'

describePostgres('the studio on one of three instances on Postgres', () => {
  let chromium: TestBrowser
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'] }, (all) => {
    ;[a, b, c] = all
  })
  beforeAll(async () => {
    chromium = await openBrowser()
  })
  afterAll(() => chromium?.close())

  const open = (at: Instance, sessionId: string, path = '') => visit(chromium, at.url, `/studio/s/${sessionId}${path}`)
  const run = async (at: Instance, agent: string, input: string, sessionId?: string) => {
    const body = { input, background: true, ...(sessionId !== undefined && { session_id: sessionId }) }
    return (await ask(at.url, `/agents/${agent}/run`, { body })).body as { run_id: string; session_id: string }
  }
  const allow = (page: Page) => page.getByRole('button', { name: 'Allow' })

  test('shows a run of another instance while it works, with its steps, and stops it', async () => {
    const { run_id, session_id } = await run(b, 'ticking', '10000 20 far')
    const { page, ...visited } = await open(c, session_id, `/r/${run_id}`)
    await page
      .getByText(/fragment 3\d\. /)
      .first()
      .waitFor()
    await page.getByRole('row', { name: /^run/ }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).first().click()
    await page
      .locator('.turn')
      .getByText(/cancelled/i)
      .first()
      .waitFor()
    expect((await ask(a.url, `/runs/${run_id}`)).body.status).toBe('cancelled')
    expect(await visited.end()).toEqual(nothingWrong)
  })

  test('has a question of another instance, which a window on a third one answers', async () => {
    const { session_id } = await run(a, 'careful', 'pay')
    const windows = [await open(b, session_id), await open(c, session_id)] as const
    for (const { page } of windows) await allow(page).waitFor()
    await allow(windows[0].page).click()
    for (const { page } of windows) await page.getByText('It is paid.').waitFor()
    expect(await allow(windows[1].page).count()).toBe(0)
    await run(a, 'echo', 'and on from the first', session_id)
    for (const { page } of windows) await page.locator('.asked').filter({ hasText: 'and on from the first' }).waitFor()
    for (const window of windows) expect(await window.end()).toEqual(nothingWrong)
  })

  test('catches up without a gap when its instance was killed and has started again', async () => {
    const { session_id } = await run(a, 'echo', 'before')
    const { page, ...visited } = await open(c, session_id)
    await page.locator('.asked').filter({ hasText: 'before' }).waitFor()
    await page.getByText('live', { exact: true }).waitFor()
    await c.kill()
    await page.getByText(/^reconnecting/).waitFor()
    await run(b, 'echo', 'meanwhile', session_id)
    await c.start()
    await page.locator('.asked').filter({ hasText: 'meanwhile' }).waitFor({ timeout: 30_000 })
    await run(a, 'echo', 'afterwards', session_id)
    await page.locator('.asked').filter({ hasText: 'afterwards' }).waitFor()
    const asked = await page.locator('.asked').allTextContents()
    expect(asked.map((text) => text.replace(/^You \d\d:\d\d/, ''))).toEqual(['before', 'meanwhile', 'afterwards'])
    const { foreign, violations } = await visited.end()
    expect({ foreign, violations }).toEqual({ foreign: [], violations: [] })
  })
})

import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { templates } from '../../../src/cli/init/template.ts'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { command, createProject, serve } from '../../support/program.ts'

let chromium: TestBrowser
beforeAll(async () => {
  chromium = await openBrowser()
})
afterAll(() => chromium?.close())

/** A page, and what a person does there: each click, and each message or form that is written, is a step. */
interface NewUser {
  page: Page
  click(what: Locator): Promise<void>
  write(field: Locator, text: string): Promise<void>
  steps(): number
}

/** A project that `init` has just made, served by `dev`, and a window that has followed the printed address. */
async function inNewProject(template: string, use: (user: NewUser) => Promise<void>) {
  const outer = await createProject()
  const made = await command(outer, ['init', 'mine', '--template', template])
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('mine')])
  const server = await serve({ ...outer, folder: join(outer.folder, 'mine') })
  try {
    const { page, ...visited } = await visit(chromium, server.url, '/')
    let steps = 0
    await use({
      page,
      click: (what) => {
        steps++
        return what.click()
      },
      write: (field, text) => {
        steps++
        return field.fill(text)
      },
      steps: () => steps,
    })
    expect(await visited.end()).toEqual(nothingWrong)
  } finally {
    await server.stop()
    await outer.remove()
  }
}

const ended = (page: Page) => page.getByRole('button', { name: /^completed/ })
const stepsOf = (page: Page) => page.getByRole('row', { name: /^run/ })

// From the page that the printed address leads to.
test.each(Object.keys(templates))(
  'in a new project of %s, five clicks lead to an answer, its steps and the passage behind it',
  async (template) => {
    await inNewProject(template, async ({ page, click, steps }) => {
      await click(page.getByRole('button', { name: /^What does “.+” say/ }))
      await click(ended(page))
      await stepsOf(page).waitFor()
      const answer = page.getByRole('article')
      const sentence = answer.getByRole('paragraph').filter({ has: page.getByRole('link', { name: '1', exact: true }) })
      // Its end, without the marks of Markdown that the passage has.
      const said = /(.{20})\s\[1\]/.exec((await sentence.first().textContent()) ?? '')?.[1] ?? 'no sentence'
      await click(sentence.first().getByRole('link', { name: '1', exact: true }))
      const passage = page.getByRole('row', { name: /^\[1\]/ })
      await passage.getByText('cited').waitFor()
      await click(passage.getByRole('button', { name: /^docs\// }))
      await page.getByRole('region', { name: /^Run/ }).getByText(said).waitFor()
      expect(steps()).toBeLessThanOrEqual(5)
      expect(await lookAt(page)).toEqual([])
    })
  },
)

test('in a new project of team the team is asked in five steps, and its members show theirs', async () => {
  await inNewProject('team', async ({ page, click, write, steps }) => {
    await click(page.getByRole('radio', { name: /^desk/ }))
    await write(page.getByRole('textbox', { name: 'Message to desk' }), 'When is the library open on Sunday?')
    await click(page.getByRole('button', { name: 'Send' }))
    await click(ended(page))
    await stepsOf(page).waitFor()
    await click(page.getByRole('row', { name: /research/ }).first())
    expect(steps()).toBe(5)
    expect(await lookAt(page)).toEqual([])
  })
})

test('in a new project of workflow a form asks for what the workflow takes, and its run shows the steps', async () => {
  await inNewProject('workflow', async ({ page, click, write, steps }) => {
    // The documents are read: before, the report would say that nothing is known.
    await page.getByRole('button', { name: /^What does “.+” say/ }).waitFor()
    await click(page.getByRole('radio', { name: /^report/ }))
    await write(page.getByLabel(/^topic/), 'green tea')
    expect(await lookAt(page)).toEqual([])
    await click(page.getByRole('button', { name: 'Run', exact: true }))
    await click(ended(page))
    await page.getByRole('row', { name: /collect/ }).waitFor()
    await page.getByRole('row', { name: /write/ }).waitFor()
    expect(steps()).toBe(4)
    await page
      .getByRole('article')
      .getByText('# green tea')
      .or(page.getByRole('heading', { name: 'green tea' }))
      .first()
      .waitFor()
  })
})

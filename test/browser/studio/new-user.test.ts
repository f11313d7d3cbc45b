import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { createProject, root, serve } from '../../support/program.ts'

let chromium: TestBrowser
beforeAll(async () => {
  chromium = await openBrowser()
})
afterAll(() => chromium?.close())

/** A new project of the template, as `init` makes it, served by `dev`, and a window that has followed the printed address. */
async function inNewProject(template: string, use: (page: Page) => Promise<void>) {
  const project = await createProject()
  await project.copy(join(root, 'templates', template), '.')
  const server = await serve(project)
  try {
    const { page, ...visited } = await visit(chromium, server.url, '/')
    await use(page)
    expect(await visited.end()).toEqual(nothingWrong)
  } finally {
    await server.stop()
    await project.remove()
  }
}

const ended = (page: Page) => page.getByRole('button', { name: /^completed/ })
const steps = (page: Page) => page.getByRole('row', { name: /^run/ })

test('in a new project of team the team is asked in five clicks, and its members show their steps', async () => {
  await inNewProject('team', async (page) => {
    await page.getByRole('radio', { name: /^desk/ }).click()
    await page.getByRole('textbox', { name: 'Message to desk' }).fill('When is the library open on Sunday?')
    await page.getByRole('button', { name: 'Send' }).click()
    await ended(page).click()
    await steps(page).waitFor()
    await page
      .getByRole('row', { name: /research/ })
      .first()
      .click()
    expect(await lookAt(page)).toEqual([])
  })
})

test('in a new project of workflow a form asks for what the workflow takes, and its run shows the steps', async () => {
  await inNewProject('workflow', async (page) => {
    await page.getByRole('radio', { name: /^report/ }).click()
    await page.getByLabel(/^topic/).fill('green tea')
    expect(await lookAt(page)).toEqual([])
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await ended(page).click()
    await page.getByRole('row', { name: /collect/ }).waitFor()
    await page.getByRole('row', { name: /write/ }).waitFor()
    await page
      .getByRole('article')
      .getByText('# green tea')
      .or(page.getByRole('heading', { name: 'green tea' }))
      .first()
      .waitFor()
  })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

let chromium: TestBrowser
let project: Project
let server: RunningServer

const config = (agents: string) => `import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    ${agents}
  },
})
`

beforeAll(async () => {
  chromium = await openBrowser()
  project = await createProject({ 'agent.config.ts': config('') })
  server = await serve(project)
})
afterAll(async () => {
  await chromium?.close()
  await server?.stop()
  await project?.remove()
})

test('agents come, change and go with the config, without a visit', async () => {
  const visited = await visit(chromium, server.url, '/studio/agents')
  const { page } = visited
  await page.getByRole('heading', { name: 'No agents' }).waitFor()
  expect(await treeOf(page.locator('main'))).toMatchInlineSnapshot(`
    "- main:
      - heading "No agents" [level=2]
      - paragraph:
        - text: Add one to
        - code: agent.config.ts
        - text: ."
  `)
  expect(await lookAt(page)).toEqual([])
  await project.write('agent.config.ts', config("desk: agent({ instructions: 'Be brief.' })"))
  await page.getByRole('link', { name: /^desk/ }).click()
  const shown = page.getByRole('region', { name: 'agent desk' })
  await shown.getByText('Be brief.').waitFor()
  await shown.getByText(/agent\.config\.ts/).waitFor()
  await shown.getByText('offline: it quotes the knowledge base').waitFor()
  await project.write('agent.config.ts', config("desk: agent({ instructions: 'Be kind.' })"))
  await shown.getByText('Be kind.').waitFor()
  await project.write('agent.config.ts', config("other: agent({ instructions: 'Be kind.' })"))
  await page.getByText('There is no agent').waitFor()
  await page.getByRole('link', { name: /^other/ }).waitFor()
  const { errors, ...rest } = await visited.end()
  expect({ ...rest, errors: errors.filter((error) => !error.includes('404')) }).toEqual(nothingWrong)
})

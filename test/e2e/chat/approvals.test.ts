import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let server: RunningServer
let terminal: Pty

const config = (about: string) => `
import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
const act = (description) => tool({ description, inputSchema: z.object({ n: z.number() }), execute: async ({ n }) => 'acted ' + n })
const model = scriptedModel(({ text, prompt }) => {
  if (prompt.at(-1).role === 'tool') return 'Told: ' + JSON.stringify(prompt.at(-1).content.map(({ output }) => output))
  const names = text.split(' ').filter((word) => /^(wipe|send)$/.test(word))
  return { tool_calls: names.map((name, n) => ({ name, input: { n }, call_id: 'use-' + n })) }
})
export default defineConfig({
  agents: {
    acts: agent({
      model, tools: { wipe: act('${about}'), send: act('Sends.') },
      toolApproval: { wipe: 'user-approval', send: 'user-approval' },
    }),
  },
})
`

beforeEach(async () => {
  project = await createProject({ 'agent.config.ts': config('Wipes.') })
  server = await serve(project, 'dev')
  terminal = openPty(project, ['chat', 'acts'], { columns: 80, rows: 40 })
  await terminal.until('Enter sends')
})
afterEach(async () => {
  await terminal.close()
  await server.stop()
  await project.remove()
})

const idle = (pty: Pty) => pty.screen().some((line) => line.startsWith('Enter sends'))
const asks = (about: string) => (pty: Pty) =>
  new RegExp(`${about}[\\s\\S]*\\ny, n or a> *\\nThe run needs`).test(pty.text())
const count = (text: string) => terminal.text().split(text).length - 1

test('says which of several approvals is open, and sends all answers together', async () => {
  terminal.send('wipe send wipe\r')
  await terminal.until(asks('1 of 3 · .*wipe'))
  terminal.send('maybe\r')
  await terminal.until(/> maybe\n {2}y for yes, n for no/)
  terminal.send('y\r')
  await terminal.until(asks('2 of 3 · .*send'))
  terminal.send('n not now\r')
  await terminal.until(asks('3 of 3 · .*wipe[\\s\\S]*{"n":2}'))
  terminal.send('y\r')
  await terminal.until(/acted 0[\s\S]*acted\s2[\s\S]*execution-denied[\s\S]*not now/)
})

test('always allows the further calls of a tool that wait together with it', async () => {
  terminal.send('wipe send wipe\r')
  await terminal.until(asks('1 of 3 · .*wipe'))
  terminal.send('a\r')
  await terminal.until(asks('wipe is always allowed in this session[\\s\\S]*2 of 3 · .*send'))
  terminal.send('n\r')
  await terminal.until(/wipe {"n":2} allowed: it always is[\s\S]*acted 0[\s\S]*acted\s2/)
  expect(terminal.text()).not.toContain('3 of 3')
  await terminal.until(idle)
})

test('always allows a tool in the session, until it changes, the session does, or the person takes it back', async () => {
  terminal.send('wipe\r')
  await terminal.until(asks('wipe'))
  terminal.send('a\r')
  await terminal.until(/wipe is always allowed in this session[\s\S]*acted 0/)
  await terminal.until(idle)
  terminal.send('send wipe\r')
  await terminal.until(asks('wipe {"n":1} allowed: it always is[\\s\\S]*2 of 2 · .*send'))
  terminal.send('y\r')
  await terminal.until(/acted 0[\s\S]*acted 0[\s\S]*acted 1/)
  await terminal.until(idle)
  terminal.send('/always\r')
  await terminal.until('Always allowed in this session: wipe.')
  await terminal.until(idle)

  await project.write('agent.config.ts', config('Wipes twice.'))
  await expect.poll(() => server.stdout() + server.stderr(), { timeout: 20_000 }).toMatch(/[Rr]eloaded/)
  terminal.send('wipe\r')
  await terminal.until(asks('wipe has changed since it was always allowed[\\s\\S]*wipe'))
  terminal.send('a\r')
  await terminal.until((pty) => pty.text().split('wipe is always allowed').length === 3 && idle(pty))

  terminal.send('/always off\r')
  await terminal.until('Every tool that needs an approval asks again.')
  await terminal.until(idle)
  terminal.send('wipe\r')
  await terminal.until(asks('off[\\s\\S]*wipe'))
  terminal.send('A\r')
  await terminal.until((pty) => pty.text().split('wipe is always allowed').length === 4 && idle(pty))
  terminal.send('/new\r')
  await terminal.until('Started a new session.')
  await terminal.until(idle)
  terminal.send('wipe\r')
  await terminal.until(asks('new session[\\s\\S]*wipe'))
  expect(count('allowed: it always is')).toBe(1)
})

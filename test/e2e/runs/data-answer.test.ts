import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, launch, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'

let project: Project
let server: RunningServer
let terminal: Pty | undefined
let runId: string

const config = `
import { agent, defineConfig } from 'agentserve'

export default defineConfig({
  agents: {
    port: agent({
      async *run() {
        yield { type: 'data', data: { port: 8080, hosts: ['one', 'two'] } }
      },
    }),
  },
})
`
const json = '{\n  "port": 8080,\n  "hosts": [\n    "one",\n    "two"\n  ]\n}'
const indented = json.replace(/^/gm, '  ')
const run = async (...args: string[]) => (await command(project, args)).stdout

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
  const events = await run('chat', 'port', '--message', 'Which?', '--session', 's1', '--json')
  runId = JSON.parse(events.split('\n')[0] ?? '').run_id
})
afterAll(async () => {
  await terminal?.close()
  await server.stop()
  await project.remove()
})

test('sessions show prints an answer of data as formatted JSON', async () => {
  expect(await run('sessions', 'show', 's1')).toContain(`assistant\n${indented}\n`)
})

test('runs show prints it', async () => {
  expect(await run('runs', 'show', runId)).toContain(`output\n${indented}\n`)
})

test('runs tail and sessions tail print it', async () => {
  expect(await run('runs', 'tail', runId)).toContain(`${json}\n`)
  const tail = launch(project, ['sessions', 'tail', 's1'])
  await expect.poll(() => tail.stderr(), { timeout: 20_000 }).toContain('Following')
  await command(project, ['chat', 'port', '--message', 'Again?', '--session', 's1'])
  await expect.poll(() => tail.stdout(), { timeout: 20_000 }).toContain(`> Again?\n${json}\n`)
  tail.child.kill('SIGTERM')
  await tail.finished
})

test('sessions export writes it in its place', async () => {
  expect(await run('sessions', 'export', 's1', '--format', 'markdown')).toContain(`\n\`\`\`json\n${json}\n\`\`\`\n`)
})

test('chat shows it again with --continue', async () => {
  terminal = openPty(project, ['chat', 'port', '--continue'])
  await terminal.until('Enter sends')
  await terminal.until(/> Which\?\s+port\s+\{\n {4}"port": 8080,\n {4}"hosts": \[/)
  terminal.send('/save said.md\r')
  await terminal.until('Saved the conversation')
  expect(await project.read('said.md')).toContain(`\`\`\`json\n${json}\n\`\`\`\n`)
  terminal.send('\x04')
  await terminal.exited
})

test('the session browser shows it', async () => {
  await terminal?.close()
  terminal = openPty(project, ['sessions'])
  await terminal.until('8080')
  terminal.send('\r')
  await terminal.until(/"port": 8080,\n\s+"hosts": \[/)
})

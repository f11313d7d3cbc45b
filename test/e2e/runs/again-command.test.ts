import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project, serve } from '../../support/program.ts'

const config = (server: object) => `
import { appendFileSync } from 'node:fs'
import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
const refund = tool({
  inputSchema: z.object({ amount: z.number() }),
  execute: async ({ amount }) => {
    appendFileSync('made.txt', 'refund ' + amount + '\\n')
    return 'refunded ' + amount
  },
})
const model = scriptedModel(({ text, prompt }) => {
  if (prompt.at(-1).role !== 'tool') return { tool_calls: [{ name: 'refund', input: { amount: 5 }, call_id: 'c1' }] }
  return 'To ' + text + ', by ' + prompt.find(({ role }) => role === 'system')?.content
})
export default defineConfig({
  agents: { clerk: agent({ model, instructions: 'the clerk', tools: { refund } }) },
  server: ${JSON.stringify(server)},
})
`

let project: Project
let runId: string
beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config({}) })
  const asked = await command(project, ['ask', 'Ann', '--agent', 'clerk', '--json'])
  expect(asked.code).toBe(0)
  runId = JSON.parse(asked.stdout.split('\n')[0] ?? '').run_id
})
afterAll(() => project.remove())

const again = (...args: string[]) => command(project, ['runs', 'again', ...args])
const made = async () => (await project.read('made.txt')).trim().split('\n').length

async function placeOf(type: string, nth: number): Promise<string> {
  const { stdout } = await command(project, ['runs', 'show', runId, '--events', '--json'])
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return String(events.filter((event) => event.type === type)[nth].seq)
}

test('without a server: the last call again with other instructions, and nothing acts', async () => {
  const before = await made()
  const from = await placeOf('model_call_start', 1)
  const { code, stdout, stderr } = await again(runId, '--from', from, '--instructions', 'the boss')
  expect(stdout).toMatch(/→ refund \{"amount":5\}\n← refund "refunded 5" .*\nTo Ann, by the boss\n■ {2}completed/)
  expect(stderr).toMatch(new RegExp(`^run_\\w+ repeats ${runId} from event ${from}, as a try that is not kept\\.\n$`))
  expect(code).toBe(0)
  expect(await made()).toBe(before)
})

test('a call waits, the command says how to answer it, and that command goes on', async () => {
  const before = await made()
  const { code, stdout, stderr } = await again(runId, '--input', 'Bob')
  expect(code).toBe(1)
  expect(stdout).toMatch(/→ refund .*\n\? .*refund.*\n■ {2}input_required/)
  expect(await made()).toBe(before)
  const [, id = ''] = /To answer: .*runs resume (run_\w+) --approve\|--deny\n/.exec(stderr) ?? []
  expect(await command(project, ['runs', 'resume', id, '--approve'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('To Bob, by the clerk'),
  })
  expect(await made()).toBe(before + 1)
})

test('several runs are printed one after the other, and as JSON events', async () => {
  const { code, stdout } = await again(runId, '--after', 'recorded', '--times', '2')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^── run_\w+ {2}1 of 2\n(.*\n)*To Ann.*\n■.*\n\n── run_\w+ {2}2 of 2\n(.*\n)*To Ann.*\n■.*\n$/)
  const json = await again(runId, '--after', 'recorded', '--times', '2', '--json')
  const events = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(new Set(events.map(({ run_id }) => run_id)).size).toBe(2)
  expect(events.filter(({ type }) => type === 'run_end')).toHaveLength(2)
  expect(json.stderr).toBe('')
})

test('with a server: it repeats runs only where that is allowed', async () => {
  const closed = await serve(project, 'start')
  expect(await again(runId, '--after', 'recorded')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('server.studio.again'),
  })
  await closed.stop()
  await project.write('agent.config.ts', config({ studio: { again: true } }))
  const open = await serve(project, 'start')
  const { code, stdout, stderr } = await again(runId, '--after', 'recorded', '--keep', 'fork')
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('To Ann, by the clerk') })
  expect(stderr).toMatch(/repeats run_\w+ from its beginning, in the session ses_\w+\.\n$/)
  await open.stop()
})

test.each([
  [['runs', 'again'], /needs the id of a run/],
  [['runs', 'show', 'run_x', '--from', '3'], /--from can only be used with again/],
  [['runs', 'again', 'run_x', '--approve'], /--approve can only be used with resume/],
  [['runs', 'list', '--input', 'x'], /--input can only be used with resume or again/],
  [['runs', 'again', 'run_x', '--times', '6'], /integer from 1 to 5/],
  [['runs', 'again', 'run_x', '--keep', 'all'], /no, fork, replace/],
])('refuses %j', async (args, stderr) => {
  const ended = await command(project, args)
  expect(ended).toMatchObject({ code: 2, stdout: '' })
  expect(ended.stderr).toMatch(stderr)
})

test('an unknown run and an unsound edit are told', async () => {
  expect(await again('run_none')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('run_none') })
  const { code, stderr } = await again(runId, '--model', 'http://127.0.0.1/v1')
  expect(code).not.toBe(0)
  expect(stderr).toContain('is not a model: write provider/model')
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project } from '../../support/program.ts'

const config = `
import { appendFileSync } from 'node:fs'
import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'

const model = scriptedModel(({ text, prompt }) => {
  const answered = prompt.at(-1).role === 'tool'
  if (text === 'weather?' && !answered) return { tool_calls: [{ name: 'weather', input: { city: 'Oslo' } }] }
  return answered ? 'It rains.' : 'You are welcome.'
})

export default defineConfig({
  agents: {
    guide: agent({
      model,
      instructions: 'Be kind.',
      tools: {
        weather: tool({
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }) => {
            appendFileSync('calls.log', city + '\\n')
            return 'rain in ' + city
          },
        }),
      },
    }),
    echo: agent({ run: ({ text }) => text }),
  },
})
`
const file = 'test/trip.session.json'
let project: Project

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  for (const message of ['weather?', 'thanks']) {
    const end = await command(project, ['chat', 'guide', '--session', 'trip', '--message', message])
    expect(end, end.stderr).toMatchObject({ code: 0 })
  }
})
afterAll(() => project?.remove())

const play = (...args: string[]) => command(project, ['test', ...args])
const calls = async () => (await project.read('calls.log')).trim().split('\n').length

test('a conversation becomes a file that has the answers and no prompts', async () => {
  const end = await command(project, ['sessions', 'save-test', 'trip'])
  expect(end).toMatchObject({ code: 0, stdout: '' })
  expect(end.stderr).toContain(`Wrote ${file}: 2 turns with 'guide'.`)
  const saved = JSON.parse(await project.read(file))
  expect(saved).toMatchObject({ entity: 'guide', tools: 'recorded' })
  expect(saved.turns[0].expect).toEqual({
    status: 'completed',
    content: 'It rains.',
    tool_calls: [{ name: 'weather', input: { city: 'Oslo' }, output: 'rain in Oslo' }],
  })
  expect(saved.turns[0].model_calls).toHaveLength(2)
  expect(JSON.stringify(saved)).not.toContain('Be kind')
  const again = await command(project, ['sessions', 'save-test', 'trip'])
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(again.stderr).toContain('already exists')
})

test('it is played without the model and without running the tools', async () => {
  await project.write('agent.config.ts', config.replace("'It rains.' : 'You are welcome.'", "'nobody asks me' : 'no'"))
  const before = await calls()
  expect(await play()).toMatchObject({ code: 0, stdout: `ok      ${file} (2 turns)\n`, stderr: '1 of 1 passed.\n' })
  expect(await calls()).toBe(before)
  expect(await play('--live-tools', file)).toMatchObject({ code: 0 })
  expect(await calls()).toBe(before + 1)
})

test('it tells what differs, and that prompts have changed', async () => {
  const changed = config.replace('rain in ', 'snow in ').replace('Be kind.', 'Be strict.')
  await project.write('agent.config.ts', changed)
  const { code, stdout } = await play()
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout:
      `ok      ${file} (2 turns)\n  note: turn 1: 2 of 2 prompts have changed\n` +
      '  note: turn 2: 1 of 1 prompts have changed\n',
  })
  const live = await play('--live-tools', '--json')
  expect(live.code).toBe(1)
  expect(JSON.parse(live.stdout)).toMatchObject({
    file,
    passed: false,
    differences: [{ turn: 1, what: 'tool_calls', actual: [{ name: 'weather', output: 'snow in Oslo' }] }],
  })
  const shown = await play('--live-tools')
  expect(shown.stdout).toContain(`FAILED  ${file} (2 turns)\n  turn 1: tool calls\n    expected [{"name":"weather"`)
})

test('what comes out now can be made what is expected', async () => {
  expect(await play('--live-tools', '--update')).toMatchObject({ code: 0 })
  expect(await play('--live-tools')).toMatchObject({ code: 0 })
})

test('an agent without a model is played too', async () => {
  await command(project, ['chat', 'echo', '--session', 'plain', '--message', 'hello'])
  const to = 'test/plain.session.json'
  expect(await command(project, ['sessions', 'save-test', 'plain', '--to', to, '--json'])).toMatchObject({
    code: 0,
    stdout: `{"file":"${to}","entity":"echo","turns":1,"tools":"recorded"}\n`,
  })
  expect(await play(to)).toMatchObject({ code: 0 })
  await project.write('agent.config.ts', config.replace('=> text })', '=> text + "!" })'))
  expect((await play(to)).stdout).toContain('turn 1: content\n    expected hello\n    got      hello!')
})

test('a conversation with an approval is played with the answer that was given', async () => {
  const careful = config.replace(
    'echo: agent({ run: ({ text }) => text }),',
    "careful: agent({ model, toolApproval: { weather: 'user-approval' }, tools: { weather: tool({ inputSchema: z.object({ city: z.string() }), execute: () => 'rain' }) } }),",
  )
  await project.write('agent.config.ts', careful)
  await command(project, ['chat', 'careful', '--session', 'asked', '--message', 'weather?'])
  const { stdout } = await command(project, ['runs', 'list', '--session', 'asked', '--json'])
  const unanswered = await command(project, ['sessions', 'save-test', 'asked'])
  expect(unanswered.code).toBe(2)
  expect(unanswered.stderr).toContain('is input_required; only an ended run can be played again')
  expect(await command(project, ['runs', 'resume', JSON.parse(stdout).run_id, '--approve'])).toMatchObject({ code: 0 })
  expect(await command(project, ['sessions', 'save-test', 'asked'])).toMatchObject({ code: 0 })
  const to = 'test/asked.session.json'
  expect(JSON.parse(await project.read(to)).turns[0].pauses).toEqual([
    [{ kind: 'approval', tool: 'weather', prompt: "Allow the tool 'weather' to run?", answer: { approved: true } }],
  ])
  expect(await play(to)).toMatchObject({ code: 0, stdout: `ok      ${to} (1 turn)\n` })
  await project.write('agent.config.ts', careful.replace("toolApproval: { weather: 'user-approval' }, ", ''))
  const { code, stdout: shown } = await play(to)
  expect(code).toBe(1)
  expect(shown).toContain(
    'turn 1: waiting\n    expected ["approval of weather: Allow the tool \'weather\' to run?"]\n    got      []',
  )
})

test('a conversation with an input is played with what was put in', async () => {
  const asking = config.replace(
    'echo: agent({ run: ({ text }) => text }),',
    `wait: agent({ async *run({ resumed }) {
      if (resumed === undefined) return yield { type: 'input_required', prompt: 'How many?', schema: { type: 'integer' } }
      yield 'You said ' + resumed.input
    } }),`,
  )
  await project.write('agent.config.ts', asking)
  await command(project, ['chat', 'wait', '--session', 'numbers', '--message', 'go'])
  expect(await command(project, ['chat', 'wait', '--session', 'numbers', '--message', '7'])).toMatchObject({
    code: 0,
    stdout: 'You said 7\n',
  })
  expect(await command(project, ['sessions', 'save-test', 'numbers'])).toMatchObject({ code: 0 })
  const to = 'test/numbers.session.json'
  expect(JSON.parse(await project.read(to)).turns[0].pauses).toMatchObject([
    [{ kind: 'input', prompt: 'How many?', answer: { input: 7 } }],
  ])
  expect(await play(to)).toMatchObject({ code: 0, stdout: `ok      ${to} (1 turn)\n` })
  await project.write('agent.config.ts', asking.replace('How many?', 'How much?'))
  const { code, stdout } = await play(to)
  expect(code).toBe(1)
  expect(stdout).toContain('How much?')
})

test.each([
  [['none.session.json'], "There is no file 'none.session.json'."],
  [['package.json'], 'package.json is not a file written by `sessions save-test`.'],
])('refuses %j', async (args, words) => {
  const { code, stdout, stderr } = await play(...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
})

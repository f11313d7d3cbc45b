import { afterAll, beforeAll, expect, test } from 'vitest'
import { command } from '../../support/program.ts'
import { serveWaiting } from '../../support/waiting-runs.ts'

let waiting: Awaited<ReturnType<typeof serveWaiting>>
beforeAll(async () => {
  waiting = await serveWaiting()
})
afterAll(() => waiting.close())

const runs = (...args: string[]) => command(waiting.project, ['runs', ...args])

/** A paused run, and the outcome of `runs resume` with these flags. */
async function resume(agentId: string, input: string, ...flags: string[]) {
  const { run_id: id } = await waiting.ask(agentId, input)
  return { id, ...(await runs('resume', id, ...flags)) }
}

test('approves and denies, with a reason, and prints what follows', async () => {
  const approved = await resume('acts', 'wipe', '--approve')
  expect(approved).toMatchObject({ code: 0, stderr: '' })
  expect(approved.stdout).toMatch(/^▸ continues\n← wipe "acted" .*\nTold: .*"acted".*\n■ {2}completed/)
  const denied = await resume('acts', 'wipe send', '--deny', 'not today')
  expect(denied.code).toBe(0)
  expect(denied.stdout.match(/execution-denied","reason":"not today"/g)).toHaveLength(2)
})

test('gives an input, and the output of a client tool', async () => {
  expect((await resume('asks', 'ask', '--input', '7')).stdout).toContain('It is 7\n')
  const { code, stdout } = await resume('acts', 'pick', '--input', '{"color":"red"}')
  expect(code).toBe(0)
  expect(stdout).toContain('"value":{"color":"red"}')
})

test('answers each call on its own', async () => {
  const answers = ['use-wipe=approve', 'use-send=deny:no, later', 'use-pick={"a":1}', 'use-look=error:closed']
  const { code, stdout } = await resume('acts', 'wipe send pick look', ...answers.flatMap((one) => ['--call', one]))
  expect(code).toBe(0)
  for (const said of ['"acted"', 'no, later', '{"a":1}', 'closed']) expect(stdout).toContain(said)
})

test('prints the events as JSON, and ends with the next pause', async () => {
  const { run_id: id } = await waiting.ask('asks', 'ask')
  const { code, stdout } = await runs('resume', id, '--input', '7', '--json')
  expect(code).toBe(0)
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(events.map(({ type }) => type)).toEqual(['run_resumed', 'text_delta', 'run_end'])
  expect(await runs('resume', id, '--input', '8')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: /not waiting/ as never,
  })
})

const wrong: [what: string, agentId: string, input: string, flags: string[], code: number, stderr: RegExp][] = [
  [
    'no answer',
    'acts',
    'wipe',
    [],
    2,
    /waiting for an answer:\n {2}approval {2}wipe .*\(use-wipe\)\n.*--approve\|--deny/,
  ],
  ['two answers', 'acts', 'wipe', ['--approve', '--input', '1'], 2, /Use one of --approve, --deny, --input and --call/],
  [
    'several kinds with one answer',
    ...(['acts', 'wipe pick'] as const),
    ['--approve'],
    2,
    /several kinds:\n.*\n.*\n.* --call 'use-wipe=approve\|deny' --call 'use-pick=<json>'\n/,
  ],
  ['a decision for a tool', 'acts', 'pick', ['--approve'], 2, /the output of a tool, not for a decision/],
  ['an input for a decision', 'acts', 'wipe', ['--input', '1'], 2, /waiting for a decision/],
  ['one output for two calls', 'acts', 'pick look', ['--input', '1'], 2, /outputs of several calls/],
  ['a call that is not there', 'acts', 'wipe', ['--call', 'use-it=approve'], 2, /names no call that waits/],
  ['a decision that is none', 'acts', 'wipe', ['--call', 'use-wipe=yes'], 2, /=approve, =deny or =deny:<reason>/],
  ['calls that are left open', 'acts', 'wipe send', ['--call', 'use-wipe=approve'], 2, /use-send/],
  ['what is no JSON', 'asks', 'ask', ['--input', 'seven'], 2, /--input needs JSON\. Write a text as '"text"'/],
  ['what does not fit the schema', 'asks', 'ask', ['--input', '"7"'], 2, /must be integer/],
]
test.each(wrong)('refuses %s, and the run waits on', async (_what, agentId, input, flags, code, stderr) => {
  const ended = await resume(agentId, input, ...flags)
  expect(ended).toMatchObject({ code, stdout: '' })
  expect(ended.stderr).toMatch(stderr)
  expect((await runs('show', ended.id)).stdout).toContain('input_required')
})

test('refuses an unknown run, a flag of another action and a missing id', async () => {
  expect(await runs('resume', 'run_none', '--approve')).toMatchObject({ code: 1, stdout: '' })
  expect(await runs('show', 'run_none', '--approve')).toMatchObject({ code: 2, stdout: '' })
  expect((await runs('resume', '--approve')).stderr).toMatch(/needs the id of a run/)
})

test('show, list and tail say what a run waits for, and how to answer it', async () => {
  const { run_id: id } = await waiting.ask('acts', 'wipe pick')
  const command = new RegExp(`runs resume ${id} --call 'use-wipe=approve\\|deny' --call 'use-pick=<json>'\n`)
  const shown = (await runs('show', id)).stdout
  expect(shown).toMatch(
    /waits {4}approval {2}wipe {2}Allow .* \(use-wipe\)\n {9}tool {2}pick {2}Execute .*\(use-pick\)\n/,
  )
  expect(shown).toMatch(command)
  const listed = await runs('list', '--limit', '1')
  expect(listed.stderr).toMatch(command)
  expect(listed.stderr).toContain(`${id} waits:\n  approval  wipe`)
  const tailed = await runs('tail', id)
  expect(tailed).toMatchObject({ code: 1 })
  expect(tailed.stderr).toMatch(command)
})

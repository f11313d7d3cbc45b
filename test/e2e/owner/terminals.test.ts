import { afterEach, beforeEach, expect, test } from 'vitest'
import { command, createProject, type Project, serve } from '../../support/program.ts'
import { openPty, type Pty } from '../../support/pty.ts'
import { killOwner } from '../../support/takeover.ts'

/* Many commands on one data folder, each a program of its own, without a server. */

const config = `
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    say: agent({
      async *run({ text, signal }) {
        if (!text.startsWith('wait')) return yield 'You said: ' + text
        for (const n of [1, 2, 3]) yield 'Part ' + n + ' of ' + text + '. '
        while (!existsSync(text)) await sleep(20, undefined, { signal })
        yield 'The end of ' + text + '.'
      },
    }),
  },
})
`

let project: Project
let terminals: Pty[]
beforeEach(async () => {
  project = await createProject({ 'agent.config.ts': config })
  terminals = []
})
afterEach(async () => {
  for (const terminal of terminals) await terminal.close()
  await project.remove()
})

async function chat(): Promise<Pty> {
  const terminal = openPty(project, ['chat', 'say'], { patienceMs: 40_000 })
  terminals.push(terminal)
  await terminal.until('Enter sends')
  return terminal
}

async function say(terminal: Pty, text: string): Promise<void> {
  terminal.send(text)
  await terminal.until((pty) => pty.screen().some((line) => line.includes(`> ${text}`)))
  terminal.send('\r')
}

const runs = async () => {
  const { stdout } = await command(project, ['runs', 'list', '--json'])
  const lines = stdout.split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as { run_id: string; session_id: string; status: string })
}
const answerOf = async (runId: string) =>
  (JSON.parse((await command(project, ['runs', 'show', runId, '--json'])).stdout) as { content: string }).content

const ready = (terminal: Pty) => terminal.screen().some((line) => line.startsWith('Enter sends'))

/** An owner without a run, and two others that are in the middle of an answer. */
async function streaming(): Promise<[owner: Pty, one: Pty, two: Pty]> {
  const owner = await chat()
  const [one, two] = await Promise.all([chat(), chat()])
  await say(one, 'wait-1')
  await say(two, 'wait-2')
  await one.until('Part 3 of wait-1.')
  await two.until('Part 3 of wait-2.')
  return [owner, one, two]
}

test('five terminals talk at once on one folder, each in a session of its own', async () => {
  const texts = ['wait-1', 'wait-2', 'wait-3', 'wait-4', 'wait-5']
  const first = await chat()
  const open = [first, ...(await Promise.all(texts.slice(1).map(chat)))]
  for (const [place, terminal] of open.entries()) await say(terminal, texts[place] ?? '')
  for (const [place, terminal] of open.entries()) await terminal.until(`Part 3 of ${texts[place]}.`)
  for (const text of texts) await project.write(text, '')
  for (const [place, terminal] of open.entries()) {
    await terminal.until(`The end of ${texts[place]}.`)
    for (const other of texts) if (other !== texts[place]) expect(terminal.text()).not.toContain(other)
  }
  const recorded = await runs()
  expect(recorded.map(({ status }) => status)).toEqual(Array(5).fill('completed'))
  expect(new Set(recorded.map(({ session_id: session }) => session)).size).toBe(5)
})

test('five commands work side by side on one folder, and a list is there at once', async () => {
  const [owner, one, two] = await streaming()
  const asked = command(project, ['ask', 'a question', '--agent', 'say'])
  const listed = await command(project, ['sessions', 'list'])
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(listed.stdout.match(/running/g)).toHaveLength(2)
  expect(await asked).toMatchObject({ code: 0, stdout: 'You said: a question\n' })
  await say(owner, 'hello')
  await owner.until('You said: hello')
  await project.write('wait-1', '')
  await project.write('wait-2', '')
  await one.until('The end of wait-1.')
  await two.until('The end of wait-2.')
  expect((await runs()).map(({ status }) => status)).toEqual(Array(4).fill('completed'))
})

test('when the owner is killed, another one serves, its runs are interrupted, and nothing is lost', async () => {
  const [owner, one, two] = await streaming()
  const idle = await chat()
  expect((await command(project, ['sessions', 'list'])).code).toBe(0)
  const since = performance.now()
  expect(await killOwner(project, owner)).toBeLessThan(2_000)
  for (const [terminal, text] of [
    [one, 'wait-1'],
    [two, 'wait-2'],
  ] as const) {
    await terminal.until('The run was interrupted')
    expect(terminal.text()).toContain(`Part 1 of ${text}. Part 2 of ${text}. Part 3 of ${text}.`)
  }
  expect(performance.now() - since).toBeLessThan(10_000)
  await say(idle, 'hello')
  await idle.until('You said: hello')
  const interrupted = (await runs()).filter(({ status }) => status === 'interrupted')
  const answers = await Promise.all(interrupted.map(({ run_id }) => answerOf(run_id)))
  expect(answers.toSorted()).toEqual(
    [1, 2].map((n) => `Part 1 of wait-${n}. Part 2 of wait-${n}. Part 3 of wait-${n}. `),
  )
  await one.until(/Send it again\?/)
  await project.write('wait-1', '')
  await say(one, 'y')
  await one.until('The end of wait-1.')
  await say(two, 'something else')
  await two.until('You said: something else')
})

test('when the owner leaves, it finishes the runs of others first, and another one serves', async () => {
  const [owner, one, two] = await streaming()
  owner.send('\x04')
  await owner.until('Waiting up to 10 s for 2 runs; Ctrl-C ends at once.')
  expect(await command(project, ['sessions', 'list'])).toMatchObject({ code: 0, stderr: '' })
  await project.write('wait-1', '')
  await project.write('wait-2', '')
  await one.until('The end of wait-1.')
  await two.until('The end of wait-2.')
  expect(await owner.exited).toMatchObject({ code: 0 })
  await one.until(ready)
  await say(one, 'hello')
  await one.until('You said: hello')
  await say(two, 'good day')
  await two.until('You said: good day')
  expect(new Set((await runs()).map(({ status }) => status))).toEqual(new Set(['completed']))
})

test('an owner whose terminal is closed finishes the runs of others too', async () => {
  const [owner, one, two] = await streaming()
  owner.kill('SIGHUP')
  await project.write('wait-1', '')
  await project.write('wait-2', '')
  await one.until('The end of wait-1.')
  await two.until('The end of wait-2.')
  await owner.exited
  expect(new Set((await runs()).map(({ status }) => status))).toEqual(new Set(['completed']))
})

test('Ctrl-C ends an owner at once that waits for the runs of others', async () => {
  const [owner, one] = await streaming()
  owner.send('\x04')
  await owner.until('Waiting up to 10 s')
  const since = performance.now()
  owner.send('\x03')
  await owner.exited
  expect(performance.now() - since).toBeLessThan(5_000)
  await one.until('The run was cancelled: shutdown.')
})

test('a chat lets dev have the folder, and talks to it', async () => {
  const terminal = await chat()
  const server = await serve(project, 'dev')
  try {
    await say(terminal, 'hello')
    await terminal.until('You said: hello')
    expect(JSON.parse(await project.read('.agentserve/server.json'))).toMatchObject({ command: 'dev', url: server.url })
  } finally {
    await server.stop()
  }
  await terminal.until(ready)
  await say(terminal, 'and now')
  await terminal.until('You said: and now')
  expect(JSON.parse(await project.read('.agentserve/server.json'))).toMatchObject({ command: 'chat' })
})

test('dev waits for the run of a chat, and says who has the folder when that takes too long', async () => {
  const terminal = await chat()
  await say(terminal, 'wait-1')
  await terminal.until('Part 3 of wait-1.')
  const refused = await command(project, ['dev', '--port', '0'])
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(
    /is in use by `agentserve chat` \(process \d+, since \S+\), which did not let go of it within 10 s\./,
  )
  const starting = serve(project, 'dev')
  await project.write('wait-1', '')
  await terminal.until('The end of wait-1.')
  await (await starting).stop()
})

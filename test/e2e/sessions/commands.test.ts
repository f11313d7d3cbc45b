import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  command,
  createProject,
  type Finished,
  type Project,
  type RunningServer,
  serve,
} from '../../support/program.ts'
import { openPty } from '../../support/pty.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ async *run({ text }) { for (const word of text.split(/(?<=\\s)/)) yield word } }),
    other: agent({ async *run() { yield 'something else' } }),
  },
})
`

async function start(url: string, agentId: string, body: object): Promise<{ run_id: string; session_id: string }> {
  const answer = await fetch(`${url}/api/v1/agents/${agentId}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as { run_id: string; session_id: string }
}

const valuesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** Each with its own data; through a server that runs, and without one. */
describe.each(['a running server', 'no server'])('with %s', (way) => {
  let project: Project
  let server: RunningServer | undefined
  let first: string
  let runIds: string[]
  const sessions = (...args: string[]): Promise<Finished> => command(project, ['sessions', ...args])

  beforeAll(async () => {
    project = await createProject({ 'agent.config.ts': config })
    server = await serve(project, 'start')
    const { url } = server
    const begun = await start(url, 'echo', { input: 'A pear is green.', user_id: 'ann' })
    first = begun.session_id
    runIds = [begun.run_id]
    for (const input of ['An apple is red.', 'A plum is blue.']) {
      runIds.push((await start(url, 'echo', { input, session_id: first })).run_id)
    }
    await start(url, 'other', { input: 'Is a lime green?' })
    if (way === 'no server') {
      await server.stop()
      server = undefined
    }
  })
  afterAll(async () => {
    await server?.stop()
    await project.remove()
  })

  test('finds what was said', async () => {
    const found = await sessions('search', 'green', 'pear')
    expect(found.code).toBe(0)
    expect(found.stdout.split('\n')[1]).toMatch(new RegExp(`^${first} +assistant +echo +\\S+ +A pear is green\\.$`))
    const all = await sessions('search', 'green', '--json')
    expect(valuesOf(all.stdout).map(({ role, snippet }) => [role, snippet])).toEqual([
      ['user', 'Is a lime green?'],
      ['assistant', 'A pear is green.'],
      ['user', 'A pear is green.'],
    ])
    expect(valuesOf((await sessions('search', 'green', '--user', 'ann', '--json')).stdout)).toHaveLength(2)
    const one = await sessions('search', 'green', '--limit', '1')
    expect([one.stdout.trimEnd().split('\n').length, one.stderr]).toEqual([2, expect.stringContaining('--all')])
    const none = await sessions('search', 'nothing', 'of', 'this')
    expect([none.code, none.stdout, none.stderr]).toEqual([0, '', 'Nothing found.\n'])
  })

  test('lists by every filter, all of them or so many', async () => {
    const ids = async (...args: string[]) =>
      valuesOf((await sessions('list', '--json', ...args)).stdout).map(({ session_id }) => session_id)
    const all = await ids()
    expect(all).toHaveLength(2)
    expect(await ids('--all')).toEqual(all)
    expect(await ids('--limit', '1')).toEqual(all.slice(0, 1))
    expect(await ids('--user', 'ann')).toEqual([first])
    expect(await ids('--agent', 'other')).toEqual(all.filter((id) => id !== first))
    expect(await ids('--older-than', '1h')).toEqual([])
    const table = await sessions('list', '--user', 'ann')
    const head = await sessions('list', '--user', 'ann', '--json')
    expect(JSON.parse(head.stdout)).toMatchObject({ session_id: first, cost: null })
    expect(table.stdout).toMatch(new RegExp(`^SESSION .*\n${first} +echo +ann +3 +completed +- +- +\\S+Z +\\S.*\n$`))
    expect(await ids('--status', 'failed')).toEqual([])
    const none = await sessions('list', '--team', 'none')
    expect([none.code, none.stdout, none.stderr]).toEqual([0, '', 'No sessions found.\n'])
  })

  test('comes back byte for byte from an export, deleted in between', async () => {
    const exported = await sessions('export', first, '--output', 'one.jsonl')
    expect([exported.code, exported.stdout]).toEqual([0, ''])
    const file = await project.read('one.jsonl')
    expect(valuesOf(file).map(({ type }) => type)).toEqual([
      'session',
      ...runIds.flatMap(() => ['run', 'events']),
      'end',
    ])
    expect((await sessions('export', first)).stdout).toBe(file)
    const taken = await sessions('export', first, '--output', 'one.jsonl')
    expect([taken.code, taken.stderr]).toEqual([
      1,
      'one.jsonl already exists. Name another file, or delete this one.\n',
    ])
    const nowhere = await sessions('export', first, '--output', 'no-folder/one.jsonl')
    expect([nowhere.code, nowhere.stderr]).toEqual([
      2,
      "The folder of 'no-folder/one.jsonl' does not exist. Create it, or name another file.\n",
    ])
    const over = await sessions('import', 'one.jsonl')
    expect([over.code, over.stderr]).toEqual([1, `Session '${first}' already exists.\n`])
    expect((await sessions('delete', first, '--json')).stdout).toBe(`{"session_id":"${first}","deleted":true}\n`)
    const back = await command(project, ['sessions', 'import', '-'], file)
    expect([back.code, back.stdout]).toEqual([0, `${first}\n`])
    expect((await sessions('export', first)).stdout).toBe(file)
    expect(valuesOf((await sessions('search', 'plum', '--json')).stdout)).toHaveLength(2)
  })

  test('exports everything, to be read too, and imports many under new ids', async () => {
    const markdown = await sessions('export', first, '--format', 'markdown')
    expect(markdown.stdout).toMatch(/^# ses_.*\n\nSession `ses_/)
    expect(markdown.stdout).toMatch(/## You, \S+Z\n\nAn apple is red\.\n\n## echo, \S+Z\n\nAn apple is red\.\n/)
    const all = (await sessions('export', '--all', '--no-events')).stdout
    expect(valuesOf(all).filter(({ type }) => type === 'session')).toHaveLength(2)
    expect(valuesOf(all).filter(({ type }) => type === 'events')).toEqual([])
    const imported = await command(project, ['sessions', 'import', '-', '--new-ids', '--json'], all)
    expect(imported.code).toBe(0)
    const made = valuesOf(imported.stdout)
    expect(made.map(({ run_count }) => run_count).sort()).toEqual([1, 3])
    for (const { session_id } of made) expect((await sessions('delete', String(session_id))).code).toBe(0)
  })

  test('says in which line of the file an import went wrong, and keeps what is whole', async () => {
    const whole = (await sessions('export', first, '--no-events')).stdout
    const broken = whole.replaceAll('"completed"', '"running"')
    const result = await command(project, ['sessions', 'import', '-', '--new-ids'], `${whole}\n${broken}`)
    expect(result.code).toBe(2)
    expect(result.stdout).toMatch(/^ses_\w+\n$/)
    expect(result.stderr).toBe(
      'Sessions imported before the error: 1.\nLine 8: run.status must be the status of an ended run.\n',
    )
    await sessions('delete', result.stdout.trim())
    for (const [input, words] of [
      ['', 'There is no session in stdin.'],
      ['{"type":', 'Line 1: '],
      [whole.split('\n').slice(0, 3).join('\n'), 'the line of type end is missing'],
    ] as const) {
      const refused = await command(project, ['sessions', 'import', '-'], input)
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([2, '', expect.stringContaining(words)])
    }
    for (const [file, words] of [
      ['no-such-file', "There is no file 'no-such-file'. Name a file that `agentserve sessions export` wrote.\n"],
      ['.', "'.' is a folder. Name a file.\n"],
    ] as const) {
      const refused = await sessions('import', file)
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([2, '', words])
    }
    expect(valuesOf((await sessions('list', '--json')).stdout)).toHaveLength(2)
  })

  test('forks at a run', async () => {
    const fork = await sessions('fork', first, '--at', runIds[1] ?? '', '--as', 'branch')
    expect([fork.code, fork.stdout, fork.stderr]).toEqual([0, 'branch\n', `It has 2 runs copied from ${first}.\n`])
    const shown = await sessions('show', 'branch')
    expect(shown.stdout).toContain('An apple is red.')
    expect(shown.stdout).not.toContain('plum')
    const [branch] = valuesOf((await sessions('list', '--json', '--limit', '1')).stdout)
    expect(branch).toMatchObject({ forked_from: { session_id: first, run_id: runIds[1] } })
    await sessions('delete', 'branch')
    const empty = await sessions('fork', first, '--before', runIds[0] ?? '', '--as', 'empty')
    expect([empty.code, empty.stderr]).toEqual([0, `It has 0 runs copied from ${first}.\n`])
    await sessions('delete', 'empty')
  })

  test('gives a session to others, and sums it up', async () => {
    const { stdout } = await sessions('fork', first, '--json')
    const [{ session_id: id } = {}] = valuesOf(stdout)
    expect((await sessions('reuse', String(id), '--user', 'bob', '--agent', 'other')).code).toBe(0)
    const [listed] = valuesOf((await sessions('list', '--user', 'bob', '--json')).stdout)
    expect(listed).toMatchObject({ session_id: id, user_id: 'bob', run_count: 3 })
    const summary = await sessions('summary', String(id))
    expect([summary.code, summary.stdout]).toEqual([0, expect.stringContaining('apple')])
    const again = valuesOf((await sessions('summary', String(id), '--json')).stdout)
    const anew = valuesOf((await sessions('summary', String(id), '--new', '--json')).stdout)
    expect(again[0]).toMatchObject({ session_id: id, run_count: 3 })
    expect(anew[0]?.content).toBe(again[0]?.content)
    expect(anew[0]?.created_at).not.toBe(again[0]?.created_at)
    await sessions('delete', String(id))
  })

  test('prunes what is old, of whom was said, and says before what that is', async () => {
    expect((await sessions('export', first, '--output', 'kept.jsonl')).code).toBe(0)
    const dry = await sessions('prune', '--older-than', '0s', '--dry-run', '--user', 'ann', '--json')
    expect(valuesOf(dry.stdout).map(({ session_id }) => session_id)).toEqual([first])
    const none = await sessions('prune', '--older-than', '1h', '--yes', '--json')
    expect([none.code, none.stdout]).toEqual([0, '{"deleted":0}\n'])
    const gone = await sessions('prune', '--older-than', '0s', '--user', 'ann', '--yes')
    expect([gone.code, gone.stdout, gone.stderr]).toEqual([0, '', 'Deleted 1 session.\n'])
    expect(valuesOf((await sessions('list', '--json')).stdout)).toHaveLength(1)
    expect((await sessions('search', 'pear')).stderr).toBe('Nothing found.\n')
    expect((await sessions('import', 'kept.jsonl')).code).toBe(0)
  })

  test('asks in a terminal before it prunes, in a table that fits', async () => {
    const ask = async (answer: string) => {
      const pty = openPty(project, ['sessions', 'prune', '--older-than', '0s'], { columns: 60 })
      await pty.until(/Delete 2 sessions .*\[y\/N\]:/s)
      pty.send(`${answer}\r`)
      const { code } = await pty.exited
      return [code, pty.text()] as const
    }
    expect(await ask('')).toEqual([1, expect.stringContaining('Nothing was deleted.')])
    const pty = openPty(project, ['sessions', 'list'], { columns: 60 })
    await pty.exited
    expect(Math.max(...pty.screen().map((line) => line.length))).toBeLessThanOrEqual(60)
    expect(pty.text()).toContain(first)
    expect(await ask('y')).toEqual([0, expect.stringContaining('Deleted 2 sessions.')])
    expect((await sessions('list')).stderr).toBe('No sessions yet.\n')
  })
})

describe('a call that is wrong', () => {
  let project: Project
  beforeAll(async () => {
    project = await createProject({ 'agent.config.ts': config })
  })
  afterAll(() => project.remove())

  test.each([
    [['search'], 'Say what to search for'],
    [['search', '?!'], 'q must have a letter or a digit'],
    [['fork'], 'needs the id of a session'],
    [['reuse', 'x'], 'Name the new owner'],
    [['reuse', 'x', 'y', '--user', 'z'], 'takes one session'],
    [['export'], 'Name the sessions'],
    [['export', 'x', '--all'], "can't be combined"],
    [['import'], 'Name one file'],
    [['delete'], 'needs the id'],
    [
      ['delete', 'x', '--user', 'ann'],
      '--user can be used with list, search, reuse, export, prune, but not with sessions delete',
    ],
    [['list', '--dry-run'], '--dry-run can be used with prune, but not with sessions list'],
    [['prune'], 'Say how old'],
    [['prune', '--older-than', 'soon', '--yes'], 'takes a time such as'],
    [['prune', '--older-than', '1h'], "Can't ask for confirmation"],
    [['prune', 'x', '--older-than', '1h', '--yes'], 'takes no ids'],
  ])('says how %j is meant', async (args, words) => {
    const { code, stdout, stderr } = await command(project, ['sessions', ...args])
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)])
  })
})

describe('a server that is killed', () => {
  let project: Project
  beforeEach(async () => {
    project = await createProject({ 'agent.config.ts': config })
  })
  afterEach(() => project.remove())

  const turns = 2_000
  const lines = () => {
    const at = '2026-01-05T09:30:00.000Z'
    const session = {
      session_id: 'large',
      agent_id: 'echo',
      team_id: null,
      workflow_id: null,
      user_id: null,
      name: null,
    }
    const shared_with = { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] }
    const times = { created_at: at, updated_at: at }
    const head = { ...session, metadata: null, state: null, shared_with, ...times }
    const all: object[] = [{ type: 'session', version: 1, session: head, summary: null }]
    for (let n = 0; n < turns; n++) {
      const run_id = `run_${n}`
      const message = (role: string) => ({
        message_id: `msg_${n}_${role}`,
        run_id,
        role,
        parts: [{ type: 'text', text: `${role} ${n} ${'word '.repeat(200)}` }],
        content: '',
        created_at: at,
      })
      const ended = { status: 'completed', created_at: at, started_at: at, completed_at: at, cancellation_reason: null }
      const rest = { error: null, cache_hit: false, usage: null, user_id: null, metadata: null, background: false }
      const messages = [message('user'), message('assistant')]
      const ids = { run_id, session_id: 'large', parent_run_id: null, entity_id: 'echo', entity_kind: 'agent' }
      const run = { ...ids, ...ended, ...rest, timeout_ms: null, truncated: false, end_seq: 2, messages, sources: [] }
      all.push({ type: 'run', run })
    }
    all.push({ type: 'end', runs: turns, events: 0 })
    return all.map((line) => JSON.stringify(line)).join('\n')
  }

  test('in the middle of an import has the whole session or nothing of it', async () => {
    const body = lines()
    const outcomes = new Set<number>()
    for (const afterMs of [50, 150, 300, 600]) {
      const server = await serve(project, 'start')
      const headers = { 'content-type': 'application/x-ndjson' }
      const sent = fetch(`${server.url}/api/v1/sessions/import`, { method: 'POST', headers, body }).then(
        ({ status }) => status,
        () => 0,
      )
      await delay(afterMs)
      await server.kill()
      const status = await sent
      const again = await serve(project, 'start')
      const session = await fetch(`${again.url}/api/v1/sessions/large`)
      const runs = (await (await fetch(`${again.url}/api/v1/runs?session_id=large`)).json()) as { count: number }
      if (session.status === 200) {
        expect(((await session.json()) as { run_count: number }).run_count).toBe(turns)
        expect(runs.count).toBe(20)
        await fetch(`${again.url}/api/v1/sessions/large`, { method: 'DELETE' })
      } else {
        expect([session.status, runs.count, status]).toEqual([404, 0, 0])
      }
      outcomes.add(session.status)
      await again.stop()
    }
    expect([...outcomes]).toContain(404)
  }, 120_000)

  test('finds what there is, and nothing of what was deleted, when it is back', async () => {
    const server = await serve(project, 'start')
    const search = async (url: string, query: string) =>
      ((await (await fetch(`${url}/api/v1/messages?q=${query}`)).json()) as { messages: { session_id: string }[] })
        .messages
    const one = await start(server.url, 'echo', { input: 'the first word' })
    expect(await search(server.url, 'word')).toHaveLength(2)
    await fetch(`${server.url}/api/v1/sessions/${one.session_id}`, { method: 'DELETE' })
    const two = await start(server.url, 'echo', { input: 'the second word' })
    await server.kill()
    const again = await serve(project, 'start')
    const found = await search(again.url, 'word')
    expect(found.map(({ session_id }) => session_id)).toEqual([two.session_id, two.session_id])
    await again.stop()
  })
})

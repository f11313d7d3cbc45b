import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bin, environment } from '../../support/program.ts'

type Child = ChildProcessByStdio<Writable, Readable, Readable>

let folder: string
const children: Child[] = []

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agentserve-serve-')))
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await rm(folder, { recursive: true, force: true })
})

function start(...args: string[]): Child {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: environment({}),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  children.push(child)
  return child
}

interface Result {
  code: number
  stdout: string
  stderr: string
}

async function finish(child: Child): Promise<Result> {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (data) => {
      texts[name] += data
    })
  }
  const [code] = await once(child, 'close')
  return { code, ...texts }
}

function run(...args: string[]): Promise<Result> {
  const child = start(...args)
  child.stdin.end()
  return finish(child)
}

interface Served {
  child: Child
  url: string
  line: Record<string, unknown>
  /** The next line on stderr that says this. */
  says(text: string): Promise<string>
}

async function serve(...args: string[]): Promise<Served> {
  const child = start('dev', '--port', '0', '--json', ...args)
  const heard: string[] = []
  const waiting = new Set<() => void>()
  createInterface(child.stderr).on('line', (line) => {
    heard.push(line)
    for (const wake of waiting) wake()
  })
  const lines = createInterface(child.stdout)
  const [first] = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(heard.join('\n')))),
  ])
  const line = JSON.parse(first)
  return {
    child,
    url: line.url,
    line,
    async says(text) {
      for (;;) {
        const index = heard.findIndex((said) => said.includes(text))
        if (index >= 0) return heard.splice(0, index + 1).at(-1) ?? ''
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.add(resolve)
        await promise.finally(() => waiting.delete(resolve))
      }
    },
  }
}

async function writeConfig(text: string): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'agent.config.ts'), text)
}

/** A config whose agent `echo` says `word` and what it was told; it needs no import of ours. */
const configSaying = (word: string) => `import { entity } from './entity.ts'
export default { agents: { echo: entity('${word}') } }`

beforeEach(() =>
  writeFile(
    join(folder, 'entity.ts'),
    `export const entity = (word: string) => ({
  kind: 'agent', tools: [], knowledge: false, sideEffects: false, [Symbol.for('agentserve.runnable')]: true,
  async *run({ text }: { text: string }) { yield word + ' '; yield text },
})`,
  ),
)

describe('agentserve dev', () => {
  it('serves docs and echo without a config, and the other commands find it', async () => {
    const { child, line, url } = await serve()
    expect(line).toMatchObject({
      studio: `${url}/studio`,
      host: '127.0.0.1',
      config_file: null,
      data_folder: join(folder, '.agentserve'),
      entities: [
        { id: 'docs', kind: 'agent' },
        { id: 'echo', kind: 'agent' },
      ],
    })
    expect((await fetch(`${url}/health`)).status).toBe(200)

    const agents = await run('agents', '--json')
    expect(
      agents.stdout
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text).id),
    ).toEqual(['docs', 'echo'])
    const chat = await run('chat', 'echo', '--message', 'hello there', '--session', 'mine')
    expect(chat).toEqual({ code: 0, stdout: 'hello there\n', stderr: '' })

    const piped = start('chat', 'echo', '--session', 'mine', '--json')
    piped.stdin.end('one\n\ntwo\n')
    const events = (await finish(piped)).stdout
      .split('\n')
      .filter(Boolean)
      .map((text) => JSON.parse(text))
    expect(events.filter(({ type }) => type === 'run_end')).toHaveLength(2)

    const shown = await run('sessions', 'show', 'mine')
    expect(shown.stdout.match(/^ {2}\S.*$/gm)).toEqual(
      ['hello there', 'hello there', 'one', 'one', 'two', 'two'].map((t) => `  ${t}`),
    )
    expect((await run('sessions', 'delete', 'mine')).code).toBe(0)
    expect(await run('sessions', 'show', 'mine')).toMatchObject({ code: 1, stdout: '' })
    const unknown = await run('chat', 'nobody', '-m', 'x')
    expect(unknown).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'agent not found: nobody\n`agentserve agents` lists the agents.\n',
    })

    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(0)
    expect(await readdir(join(folder, '.agentserve'))).not.toContain('server.json')
  })

  it('takes a saved edit at once, keeps the last good config on a broken one, and shows where it breaks', async () => {
    await writeConfig(configSaying('one'))
    const { says, child } = await serve()
    const answer = async () => (await run('chat', 'echo', '-m', 'x')).stdout
    expect(await answer()).toBe('one x\n')
    await writeConfig(configSaying('two'))
    await says('Reloaded after')
    expect(await answer()).toBe('two x\n')
    await writeConfig('const a = {\nexport default {}')
    await says('agent.config.ts:2: ')
    await says('> 2 | export default {}')
    await says('Still serving the last good config.')
    expect(await answer()).toBe('two x\n')
    await writeConfig(configSaying('three'))
    await says('Reloaded after')
    expect(await answer()).toBe('three x\n')
    child.kill('SIGINT')
    expect((await once(child, 'exit'))[0]).toBe(130)
  })

  it('is refused on a data folder that is served, with where and by whom', async () => {
    const { child, url } = await serve()
    const second = await run('dev', '--port', '0')
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`is already served at ${url} (process ${child.pid})`)
  })

  it('refuses to let everybody in unless it is told to', async () => {
    const refused = await run('dev', '--host', '0.0.0.0', '--port', '0')
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(/auth.*AGENTSERVE_API_KEYS.*--allow-unauthenticated/s)
    const { line } = await serve('--host', '0.0.0.0', '--allow-unauthenticated')
    expect(line.port).toBeGreaterThan(0)
    // Nor does it serve everyone a page with everything.
    expect(line.studio).toBe(null)
  })

  it('does not start with a broken config, and shows the line', async () => {
    await writeConfig('export default { server: { requestTimout: 1 } }')
    const { code, stderr, stdout } = await run('dev', '--port', '0')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe("agent.config.ts: server.requestTimout is not a setting; did you mean 'requestTimeout'?\n")
  })
})

describe('without a running server', () => {
  it('commands open one in their own process, and what they keep stays', async () => {
    expect(await run('chat', 'echo', '-m', 'first', '--session', 's1')).toEqual({
      code: 0,
      stdout: 'first\n',
      stderr: '',
    })
    const { stdout } = await run('sessions', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ session_id: 's1', entity_id: 'echo', run_count: 1 })
    expect(await readdir(join(folder, '.agentserve'))).not.toContain('server.json')
  })

  it('Ctrl-C cancels the answer, closes what was opened and ends with 130', async () => {
    await writeConfig(`export default { agents: { slow: {
      kind: 'agent', tools: [], knowledge: false, sideEffects: false, [Symbol.for('agentserve.runnable')]: true,
      async *run(_input: unknown, { signal }: { signal: AbortSignal }) {
        yield 'begun '
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    } } }`)
    const child = start('chat', 'slow', '-m', 'x', '--session', 's1')
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    expect(await finish(child)).toEqual({ code: 130, stdout: '', stderr: '' })
    const { stdout } = await run('sessions', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ run_count: 1, status: 'cancelled' })
  })

  it('ingests files, tells what became of each, and finds them', async () => {
    await mkdir(join(folder, 'guide'))
    await writeFile(join(folder, 'guide/port.md'), '# Ports\n\nThe lighthouse listens on port 4711.\n')
    await writeFile(join(folder, 'guide/other.md'), '# Other\n\nNothing of interest.\n')
    const first = await run('ingest', 'guide', '--json')
    expect(first.code).toBe(0)
    const results = first.stdout
      .split('\n')
      .filter(Boolean)
      .map((text) => JSON.parse(text))
    expect(results.map(({ source, outcome }) => [source, outcome])).toEqual([
      ['guide/other.md', 'added'],
      ['guide/port.md', 'added'],
    ])
    expect((await run('ingest', 'guide')).stderr).toContain('0 added, 0 replaced, 2 unchanged, 0 skipped')
    const found = await run('search', 'which', 'port', 'does', 'the', 'lighthouse', 'use')
    expect(found.stdout).toMatch(/^1\. guide\/port\.md:\d/)
    const missing = await run('ingest', 'nowhere')
    expect(missing).toMatchObject({ code: 2, stdout: '' })
    expect(missing.stderr).toContain("'nowhere'")
  })

  it('reads a stale server.json as no server', async () => {
    await mkdir(join(folder, '.agentserve'))
    const hint = { pid: 1, url: 'http://127.0.0.1:1', version: '0', started_at: '' }
    await writeFile(join(folder, '.agentserve/server.json'), JSON.stringify(hint))
    expect((await run('agents', '--json')).code).toBe(0)
    expect(await readdir(join(folder, '.agentserve'))).not.toContain('server.json')
  })
})

import { type ExecFileException, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { bin, environment } from '../../support/program.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-cli-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Result {
  code: number
  stdout: string
  stderr: string
}

function run(...args: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const done = (error: ExecFileException | null, stdout: string, stderr: string) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    execFile(process.execPath, [bin, ...args], { cwd: folder, env: environment({}) }, done)
  })
}

describe('agentserve', () => {
  it('says on a Node that is too old which one it needs, and how to get it', async () => {
    const old = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })`
    const child = spawn(process.execPath, ['--import', old, bin, 'doctor'], {
      cwd: folder,
      env: environment({ AGENTSERVE_ANOTHER_NODE: '1' }),
    })
    const [[code], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)])
    expect([code, stderr]).toEqual([
      1,
      'agentserve needs Node 22.19 or newer; this is 20.20.2. Install a newer Node, or one for this project: npm install --save-dev node@24\n',
    ])
  })

  it.each([[['--version']], [['-v']]])('prints its version alone: %j', async (args) => {
    expect(await run(...args)).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
  })

  it.each([[[]], [['--help']], [['help']]])('lists its commands on stdout: %j', async (args) => {
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const name of [
      'dev',
      'start',
      'chat',
      'ingest',
      'search',
      'sessions',
      'agents',
      'test',
      'init',
      'doctor',
      'completion',
    ]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    }
  })

  it.each(['chat', 'ingest', 'search', 'sessions', 'agents'])('gives %s the flags of all', async (name) => {
    const { code, stdout } = await run(name, '--help')
    expect(code).toBe(0)
    for (const flag of ['--config <file>', '--data <folder>', '--json', '--url <url>', '--key <key>']) {
      expect(stdout).toContain(flag)
    }
  })

  it.each(['dev', 'start'])('gives %s the flags of a server', async (name) => {
    const { code, stdout } = await run('help', name)
    expect(code).toBe(0)
    const flags = ['--config', '--data', '--json', '--host', '--port', '--no-watch', '--allow-host']
    for (const flag of [...flags, '--allow-unauthenticated']) expect(stdout).toContain(flag)
    expect(stdout).toContain(`Examples:\n  $ agentserve ${name}\n`)
  })

  it.each<[string[], RegExp]>([
    [['dve'], /unknown command 'dve'\s+\(Did you mean dev\?\)/],
    [['dev', '--prot', '1'], /unknown option '--prot'\s+\(Did you mean --port\?\)/],
    [['dev', '--port', '70000'], /--port <port>.*must be an integer from 0 to 65535/],
    [['dev', '--port', '80x'], /must be an integer from 0 to 65535/],
    [['dev', 'extra'], /too many arguments/],
    [['help', 'dve'], /Usage: agentserve/],
    [['search'], /missing required argument 'query'/],
    [['search', 'x', '--mode', 'magic'], /Allowed choices are hybrid, vector, keyword/],
    [['chat'], /missing required argument 'agentId'/],
    [['ingest'], /missing required argument 'paths'/],
    [['sessions', 'burn'], /Allowed choices are browse, list, show, files, file, tail/],
    [['sessions', 'show'], /sessions show needs the id of a session/],
    [['init', '--template', 'none'], /Allowed choices are basic, knowledge, team, workflow/],
  ])('refuses %j with exit code 2, on stderr', async (args, message) => {
    const { code, stdout, stderr } = await run(...args)
    expect(stderr).toMatch(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it.each<[string[], RegExp]>([
    [['agents', '--url', 'http://127.0.0.1:1'], /No answer from http:\/\/127\.0\.0\.1:1: nothing listens there/],
    [['agents', '--url', 'http://127.0.0.1:1', '--json'], /nothing listens there/],
    [['chat', 'echo', '--url', 'http://127.0.0.1:1', '-m', 'hi'], /nothing listens there/],
  ])('says when no server answers and ends with 1: %j', async (args, message) => {
    const { code, stdout, stderr } = await run(...args)
    expect(stderr).toMatch(message)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  it('leaves quietly when its reader has gone', async () => {
    const child = spawn(process.execPath, [bin, '--help'], {
      cwd: folder,
      env: environment({}),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += data
    })
    const [code] = await once(child, 'close')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

describe('agentserve init', () => {
  it('writes a project under the name of its folder', async () => {
    const { code, stdout, stderr } = await run('init', 'My Agents', '--template', 'basic')
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('npm install')
    const written = await readdir(join(folder, 'My Agents'), { recursive: true })
    const names = ['.env.example', '.gitignore', 'agent.config.ts', 'docs', 'package.json', 'test', 'tsconfig.json']
    expect(written.sort()).toEqual([...names, join('docs', 'welcome.md'), join('test', 'agents.test.ts')].sort())
    const project = JSON.parse(await readFile(join(folder, 'My Agents/package.json'), 'utf8'))
    expect(project).toMatchObject({ name: 'my-agents', dependencies: { agentserve: `^${manifest.version}` } })
  })

  it('never overwrites: one file in the way and nothing is written', async () => {
    await writeFile(join(folder, 'tsconfig.json'), 'mine')
    const { code, stderr } = await run('init')
    expect(code).toBe(1)
    expect(stderr).toBe('tsconfig.json is there already. Nothing was written. Use --overwrite to replace.\n')
    expect(await readFile(join(folder, 'tsconfig.json'), 'utf8')).toBe('mine')
    expect(await readdir(folder)).not.toContain('package.json')
  })

  it('replaces files when it is told to', async () => {
    await run('init', 'again')
    await writeFile(join(folder, 'again/tsconfig.json'), 'mine')
    const { code } = await run('init', 'again', '--overwrite', '--template', 'team')
    expect(code).toBe(0)
    expect(await readFile(join(folder, 'again/tsconfig.json'), 'utf8')).toContain('compilerOptions')
    expect(await readFile(join(folder, 'again/agent.config.ts'), 'utf8')).toContain('team(')
  })

  it('says as JSON what it wrote', async () => {
    const { stdout, stderr } = await run('init', 'json', '--json')
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({ folder: join(folder, 'json'), template: 'basic' })
  })
})

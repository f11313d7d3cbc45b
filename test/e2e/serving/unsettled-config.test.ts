import { describe, test } from 'vitest'
import { command, createProject, launch, type Project, type RunningServer, serve } from '../../support/program.ts'

/** A project and its server, which go at the end of the test. */
class Opened {
  readonly project: Project
  #server: RunningServer | undefined

  constructor(project: Project) {
    this.project = project
  }

  async serve(name?: 'dev' | 'start'): Promise<RunningServer> {
    this.#server = await serve(this.project, name)
    return this.#server
  }

  async [Symbol.asyncDispose]() {
    await this.#server?.kill()
    await this.project.remove()
  }
}

const open = async (files: Record<string, string>) => new Opened(await createProject(files))

const config = (before: string, word = 'hello', more = '') => `
import { agent, defineConfig } from 'agentserve'
${before}
export default defineConfig({ agents: { hello: agent({ sideEffects: false, run: () => ['${word}'] }) }, ${more} })
`
const never = 'await new Promise(() => {})'
/** What keeps a process alive that waits for nothing. */
const busy = 'setInterval(() => {}, 1000)\n'
const ended = { code: 1, signal: null, stdout: '' }

async function ask(server: RunningServer): Promise<string> {
  const response = await fetch(`${server.url}/api/v1/agents/hello/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"input":"hi"}',
  })
  return ((await response.json()) as { content: string }).content
}

/* Each waits much longer than it works. */
describe.concurrent('a config that is slow', { timeout: 90_000 }, () => {
  test('every command that loads the config gives up, names the file and ends with 1', async ({ expect }) => {
    await using opened = await open({ 'agent.config.ts': config(never), 'a.session.json': '{}' })
    const { project } = opened
    const all = [['dev', '--port', '0'], ['start', '--port', '0'], ['agents'], ['chat', 'hello', '-m', 'x'], ['test']]
    const checking = command(project, ['doctor'])
    for (const end of await Promise.all(all.map((args) => command(project, args)))) {
      expect(end).toMatchObject(ended)
      expect(end.stderr).toMatch(/^(?:Waiting for [^\n]+\n)?agent\.config\.ts: has not finished loading after 10 s\./)
      expect(end.stderr).toContain(`> 3 | ${never}`)
    }
    const { code, stdout } = await checking
    expect(code).toBe(1)
    expect(stdout).toContain('agent.config.ts: has not finished loading after 10 s.')
  })

  test('the error names what is imported, and what is left open does not keep the process', async ({ expect }) => {
    const imports = config("import './lib/wait.ts'")
    await using opened = await open({ 'agent.config.ts': imports, 'lib/wait.ts': `${busy}export const a = ${never}\n` })
    const { project } = opened
    const promise = 'export default new Promise(() => {})'
    await project.write('promise.ts', `${busy}${promise}\n`)
    const [first, second] = await Promise.all([
      command(project, ['start', '--port', '0']),
      command(project, ['start', '--port', '0', '--config', 'promise.ts']),
    ])
    expect(first).toMatchObject(ended)
    expect(first.stderr).toContain('or in what it imports (lib/wait.ts)')
    expect(first.stderr).toContain(`> 2 | export const a = ${never}`)
    expect(second).toMatchObject(ended)
    expect(second.stderr).toMatch(/^promise\.ts: has not finished loading after 10 s\./)
  })

  test('a config that takes its time is served', async ({ expect }) => {
    const slow = "import { setTimeout as sleep } from 'node:timers/promises'\nawait sleep(1500)"
    await using opened = await open({ 'agent.config.ts': config(slow) })
    const server = await opened.serve()
    expect(await ask(server)).toBe('hello')
  })

  test('dev keeps the last good config when a saved one does not settle, and takes the next', async ({ expect }) => {
    await using opened = await open({ 'agent.config.ts': config('', 'one') })
    const { project } = opened
    const server = await opened.serve()
    await project.write('agent.config.ts', config(busy + never, 'two'))
    await expect.poll(() => server.stderr(), { timeout: 30_000 }).toContain('has not finished loading after 10 s')
    expect(server.stderr()).toContain('Still serving the last good config.')
    expect(await ask(server)).toBe('one')
    await project.write('agent.config.ts', config('', 'three'))
    await expect.poll(() => ask(server), { timeout: 20_000 }).toBe('three')
  })

  test('SIGTERM ends dev while a saved config does not settle', async ({ expect }) => {
    await using opened = await open({
      'agent.config.ts': config('', 'one'),
      'wait.ts': "import { writeFileSync } from 'node:fs'\nwriteFileSync('loading', '')\nexport {}\n",
    })
    const { project } = opened
    const server = await opened.serve()
    await project.write('agent.config.ts', config(`import './wait.ts'\n${busy}${never}`, 'two'))
    await expect.poll(() => project.read('loading').catch(() => 'not yet'), { timeout: 20_000 }).toBe('')
    const stoppedAt = performance.now()
    expect(await server.stop()).toMatchObject({ code: 0, signal: null })
    expect(performance.now() - stoppedAt).toBeLessThan(10_000)
  })

  test('SIGTERM ends a command whose config does not settle', async ({ expect }) => {
    await using opened = await open({ 'agent.config.ts': config(`console.error('loading')\n${busy}${never}`) })
    const { project } = opened
    const started = launch(project, ['start', '--port', '0'])
    await expect.poll(() => started.stderr(), { timeout: 20_000 }).toContain('loading')
    started.child.kill('SIGTERM')
    expect(await started.finished).toMatchObject({ code: 0, signal: null, stderr: 'loading\n' })
  })

  test('SIGTERM ends a server whose config never ends its dispose', async ({ expect }) => {
    await using opened = await open({ 'agent.config.ts': config(busy, 'one', 'dispose: () => new Promise(() => {})') })
    const { project } = opened
    const server = await opened.serve('start')
    expect(await ask(server)).toBe('one')
    const end = await server.stop()
    expect(end).toMatchObject({ code: 0, signal: null })
    expect(end.stderr).toContain('agent.config.ts: dispose() has not ended after 5 s')
    const asked = await command(project, ['chat', 'hello', '-m', 'x'])
    expect(asked).toMatchObject({ code: 0, stdout: 'one\n' })
  })
})

import { chmod } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import {
  command,
  createProject,
  type Finished,
  type Project,
  type RunningServer,
  serve,
} from '../../support/program.ts'

const own = { AGENTSERVE_KEY: 'key-of-the-user', AGENTSERVE_API_KEYS: 'key-of-the-operator' }
const health = JSON.stringify({ status: 'ok', service: 'agentserve', version: '0', started_at: '', uptime_seconds: 1 })
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function projectOf(files: Record<string, string> = {}): Promise<Project> {
  const project = await createProject(files)
  closing.push(() => project.remove())
  return project
}

async function serving(
  project: Project,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<RunningServer> {
  const server = await serve(project, 'start', args, env)
  closing.push(() => server.kill())
  return server
}

type Exchange = [request: IncomingMessage, response: ServerResponse]

interface Catcher {
  url: string
  /** The keys that came, and for how many requests there was one or none. */
  keys: string[]
  requests: number
}

/** A server that says it is agentserve and keeps the keys that it is sent. */
async function catcher(
  answer: (...exchange: Exchange) => void = (_, response) => void response.end(health),
  port = 0,
): Promise<Catcher> {
  const caught: Catcher = { url: '', keys: [], requests: 0 }
  const server = createServer((request, response) => {
    caught.requests++
    if (request.headers.authorization !== undefined) caught.keys.push(request.headers.authorization)
    response.setHeader('content-type', 'application/json')
    if (request.url === '/health') answer(request, response)
    else response.writeHead(request.headers.authorization === undefined ? 401 : 200).end(JSON.stringify({ agents: [] }))
  }).listen(port, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  caught.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return caught
}

const agents = (project: Project, env: Record<string, string> = own, ...args: string[]) =>
  command(project, ['agents', '--json', ...args], '', env)
const idsOf = ({ stdout }: Finished) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { id: string }).id)
const ignored = /^\S+server\.json is ignored: [^\n]+\. Continuing without a running server\.\n$/

/** A server.json as the user's own file. */
async function writeHint(project: Project, hint: object, mode = 0o600): Promise<void> {
  await project.write('.agentserve/server.json', JSON.stringify(hint))
  await chmod(`${project.folder}/.agentserve/server.json`, mode)
}

const secret = Buffer.alloc(32, 7).toString('base64url')

describe('a server.json that no running server wrote', () => {
  test.each([
    ['without a secret', { pid: 1 }],
    ['with a secret that its server does not know', { pid: 1, secret }],
    ['that asks for a key', { pid: 1, secret, auth: true }],
  ])('%s gets no key, and the command continues without a server', async (_, hint) => {
    const project = await projectOf()
    const caught = await catcher()
    await writeHint(project, { ...hint, url: caught.url })
    const ended = await agents(project)
    expect(caught.keys).toEqual([])
    expect(idsOf(ended)).toEqual(['docs', 'echo'])
    expect(ended.stderr).toMatch(ignored)
    expect(ended.code).toBe(0)
  })

  test('that a killed server left, with another program on its port, gets no key', async () => {
    const project = await projectOf()
    const server = await serving(project, [], own)
    await server.kill()
    const caught = await catcher(undefined, Number(new URL(server.url).port))
    const ended = await agents(project)
    expect(caught).toMatchObject({ keys: [] })
    expect(caught.requests).toBeGreaterThan(0)
    expect(ended.stderr).toMatch(ignored)
    expect(idsOf(ended)).toEqual(['docs', 'echo'])
  })

  test('that a killed server left, with nothing on its port, is passed over in silence', async () => {
    const project = await projectOf()
    await (await serving(project, [], own)).kill()
    const ended = await agents(project)
    expect({ ids: idsOf(ended), stderr: ended.stderr }).toEqual({ ids: ['docs', 'echo'], stderr: '' })
  })

  test.each([
    'http://203.0.113.1:8080',
    'http://localhost:8080',
    'https://127.0.0.1:8080',
    'http://127.0.0.1:8080/elsewhere',
    'http://user@127.0.0.1:8080',
  ])('that names %s is not used', async (url) => {
    const project = await projectOf()
    await writeHint(project, { pid: 1, secret, url })
    const ended = await agents(project)
    expect(ended.stderr).toContain('it does not name an address of this machine')
    expect(idsOf(ended)).toEqual(['docs', 'echo'])
  })
})

describe('the server.json of a running server', () => {
  /** A project whose server.json has the secret of another's running server, and names a catcher. */
  async function copied(answer: (server: RunningServer, ...exchange: Exchange) => void) {
    const elsewhere = await projectOf()
    const server = await serving(elsewhere, [], own)
    const hint = JSON.parse(await elsewhere.read('.agentserve/server.json')) as object
    const caught = await catcher((...exchange) => answer(server, ...exchange))
    const project = await projectOf()
    await writeHint(project, { ...hint, url: caught.url })
    return { project, caught, hint }
  }

  test('proves nothing for a program at another address that passes the challenge on', async () => {
    const { project, caught } = await copied(async ({ url }, request, response) => {
      const hosts = [request.headers.host, new URL(url).host]
      for (const host of hosts) {
        const { headers } = await fetchAs(`${url}/health`, { ...request.headers, host })
        const proof = headers['x-agentserve-proof']
        if (proof !== undefined) response.setHeader('x-agentserve-proof', proof)
      }
      expect(response.hasHeader('x-agentserve-proof')).toBe(true)
      response.end(health)
    })
    const ended = await agents(project)
    expect(caught.keys).toEqual([])
    expect(ended.stderr).toMatch(ignored)
    expect(idsOf(ended)).toEqual(['docs', 'echo'])
  })

  test('is not looked for behind a redirect', async () => {
    const { project, caught } = await copied(({ url }, _, response) => {
      response.writeHead(307, { location: `${url}/health` }).end()
    })
    expect((await agents(project)).stderr).toMatch(ignored)
    expect(caught.keys).toEqual([])
  })

  test.skipIf(process.platform === 'win32')('is not used once others may read or write it', async () => {
    const { project, caught, hint } = await copied((_, __, response) => void response.end(health))
    for (const mode of [0o640, 0o604, 0o620, 0o602]) {
      await writeHint(project, { ...hint, url: caught.url }, mode)
      expect((await agents(project)).stderr).toContain('other users can read or write it')
    }
    expect(caught.requests).toBe(0)
  })

  const lan = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)?.address
  const hosts = ['127.0.0.1', '0.0.0.0', 'localhost', '::1', ...(lan === undefined ? [] : [lan])]
  test.each(hosts)('is found by commands when it is bound to %s, wherever its routes are', async (host) => {
    const config = `import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { mine: agent({ async *run() { yield 'hi' } }) },
  server: { prefix: '/p', a2a: { prefix: '/two' }, healthPath: '/alive/here', auth: { keys: ['key-of-the-config'] } },
})`
    const project = await projectOf({ 'agent.config.ts': config })
    const server = await serving(project, ['--host', host])
    const asked = await agents(project, {})
    expect({ ids: idsOf(asked), stderr: asked.stderr }).toEqual({ ids: ['mine'], stderr: '' })
    expect((await agents(project, { AGENTSERVE_KEY: 'wrong' })).stderr).toContain('--key')
    expect((await agents(project, {}, '--key', 'wrong')).stderr).toContain('--key')
    expect(idsOf(await agents(project, { AGENTSERVE_API_KEYS: 'key-of-the-config' }))).toEqual(['mine'])
    expect(JSON.parse(await project.read('.agentserve/server.json'))).toMatchObject({ pid: server.child.pid })
  })
})

describe('a server that is named', () => {
  test.each<[what: string, env: Record<string, string>, file: string, args: string[], keys: string[], says: RegExp]>([
    [
      'by .env gets no key of the environment',
      own,
      'AGENTSERVE_URL=URL',
      [],
      [],
      /\nAGENTSERVE_KEY from the environment is not sent/,
    ],
    ['by .env gets the key of .env', {}, 'AGENTSERVE_URL=URL\nAGENTSERVE_KEY=file', [], ['file'], /^$/],
    ['by .env gets its own key', own, 'AGENTSERVE_URL=URL\nAGENTSERVE_KEY=file', [], ['file'], /^$/],
    ['by the environment gets its key', { AGENTSERVE_URL: 'URL', ...own }, '', [], ['key-of-the-user'], /^$/],
    [
      'by the environment gets no key of .env',
      { AGENTSERVE_URL: 'URL' },
      'AGENTSERVE_KEY=file\nAGENTSERVE_API_KEYS=more',
      [],
      [],
      /\nAGENTSERVE_KEY from \.env is not sent/,
    ],
    [
      'by --url gets no key but that of --key',
      own,
      '',
      ['--url', 'URL'],
      [],
      /\nAGENTSERVE_KEY is not sent to the server of --url/,
    ],
    ['by --url is asked for with --key alone', {}, '', ['--url', 'URL'], [], /\nPass the key with --key\.\n$/],
    ['by --url gets the key of --key', own, '', ['--url', 'URL', '--key', 'flag'], ['flag'], /^$/],
    ['by .env gets no key of --key', {}, 'AGENTSERVE_URL=URL', ['--key', 'flag'], [], /^--key needs --url/],
  ])('%s', async (_, env, file, args, keys, says) => {
    const caught = await catcher()
    const named = (text: string) =>
      text.replaceAll('URL', (found, at: number) => (text[at - 1] === '_' ? found : caught.url))
    const project = await projectOf({ '.env': named(file) })
    const environment = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, named(value)]))
    const ended = await agents(project, environment, ...args.map(named))
    expect(caught.keys).toEqual(keys.map((key) => `Bearer ${key}`))
    expect(ended.stderr).toMatch(says)
    expect(ended.code).toBe(ended.stderr === '' ? 0 : ended.stderr.startsWith('--key') ? 2 : 1)
  })
})

/** With any Host header. */
function fetchAs(url: string, headers: IncomingMessage['headers']): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sendRequest(url, { headers, agent: false }, (answer) => resolve(answer.resume()))
      .once('error', reject)
      .end()
  })
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/config-error.ts'
import type { Environment } from '../../src/config/environment.ts'
import type { ConfigFlags } from '../../src/config/overrides.ts'
import type { ConfigParts } from '../../src/config/parts.ts'
import { type ResolveOptions, resolveConfig } from '../../src/config/resolve.ts'
import { usualLimits } from '../../src/config/settings/limits.ts'
import type { SummaryManagerLike } from '../../src/config/settings/server.ts'
import type { ServerConfig, UserConfig } from '../../src/config/types.ts'
import { AppError } from '../../src/core/error.ts'
import type { EntityKind } from '../../src/core/run.ts'
import { isRunnable, markRunnable, type Runnable } from '../../src/core/runnable.ts'
import { createMcpServers } from '../../src/runnables/mcp/mcp.ts'
import { team } from '../../src/runnables/team/team.ts'
import { collect } from '../support/collect.ts'

const manager: SummaryManagerLike = { summarizer: { name: 'test', summarize: async () => '' }, timeoutMs: 1 }

function runnable<KIND extends EntityKind = 'agent'>(kind = 'agent' as KIND): Runnable<KIND> {
  return markRunnable({ kind, tools: [], knowledge: false, sideEffects: true, async *run() {} })
}

const parts: ConfigParts = {
  toRunnable(value) {
    if ('broken' in value) throw new AppError('invalid_request', 'temperature is hot')
    return isRunnable(value) ? value : undefined
  },
  mcpServers: createMcpServers,
  agent: (settings) => Object.assign(runnable(), settings),
  summaryManager: () => manager,
}

function resolve(user: UserConfig | undefined, more: Partial<ResolveOptions> = {}) {
  return resolveConfig({ user, file: '/app/agent.config.ts', root: '/app', purpose: 'program', parts, ...more })
}

const resolveServer = (server: ServerConfig, flags?: ConfigFlags, environment?: Environment) =>
  resolve({ server }, { flags, environment }).server

function complaints(user: unknown, more: Partial<ResolveOptions> = {}): string[] {
  try {
    resolve(user as UserConfig, more)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message.split('\n')
  }
  return []
}

describe('resolveConfig', () => {
  it('divides files from websites and repositories, whose times it reads', () => {
    const site = { url: 'https://host.test/', depth: 2, every: '1d', delay: '1s', allowPrivate: true } as const
    const { knowledge } = resolve({ knowledge: { sources: ['docs', 'https://host.test/a', site] } })
    const plain = { allowHttp: false, allowPrivate: false }
    expect(knowledge.sources).toEqual(['docs'])
    expect(knowledge.remote).toMatchObject([
      { url: 'https://host.test/a', ...plain },
      { ...plain, url: 'https://host.test/', depth: 2, everyMs: 86_400_000, delayMs: 1_000, allowPrivate: true },
    ])
  })

  it('decides every field for the command line', () => {
    const config = resolve({ agents: {} })
    expect(config).toMatchObject({
      root: '/app',
      dataFolder: '/app/.agentserve',
      entities: new Map(),
      model: undefined,
    })
    expect(config.server).toEqual({
      address: { host: '127.0.0.1', port: 8080, named: false },
      prefix: '/api/v1',
      sessionStorage: { type: 'sqlite', path: '/app/.agentserve/agentserve.db', synchronous: 'FULL' },
      studio: { path: '/studio', again: false },
      logger: undefined,
      debug: false,
      allowOrigins: [],
      telemetry: {},
      trustProxy: [],
      allowMethods: undefined,
      allowHeaders: undefined,
      allowHosts: [],
      requestTimeoutMs: 30_000,
      runTimeoutMs: 600_000,
      stopWithinMs: 10_000,
      maxRequestBytes: 10 * 1024 * 1024,
      healthPath: '/health',
      vectorDb: { type: 'lancedb', baseUrl: '/app/.agentserve/knowledge' },
      embedding: { provider: 'auto' },
      knowledgeApi: { search: true, config: true, content: true, documents: true },
      summaryManager: manager,
      a2a: { prefix: '/api/v1/a2a', publicCard: false },
      agUi: true,
      chat: true,
      openai: { prefix: '/v1', sessionFromUser: false, showTools: false },
      mcp: { path: '/mcp', approveByTool: false },
      authKeys: [],
      limits: {
        connections: 10_000,
        requests: 2_048,
        requestsPerMinute: undefined,
        concurrentRuns: undefined,
        bodiesBytes: 256 * 1024 ** 2,
        bodiesPerKeyBytes: 64 * 1024 ** 2,
        importBytes: 2 * 1024 ** 3,
        run: {
          outputBytes: 16 * 1024 ** 2,
          events: 100_000,
          timeMs: 86_400_000,
          steps: 50,
          tokens: undefined,
          asks: 16,
          files: 10,
        },
        toolResult: { promptBytes: 1024 ** 2, recordBytes: 8 * 1024 ** 2 },
        fileBytes: 8 * 1024 ** 2,
        clientTools: { count: 128, schemasBytes: 256 * 1024 },
        history: { messages: 1_000, sizeBytes: 2 * 1024 ** 2 },
        metadataBytes: 64 * 1024,
        stateBytes: 1024 ** 2,
        mcpMessageBytes: 8 * 1024 ** 2,
      },
      audit: { isOn: true, keepMs: 365 * 86_400_000 },
      allowUnauthenticated: false,
      retention: { maxAgeMs: undefined, maxSessions: undefined },
      files: { fetchUrls: true },
    })
  })

  it('decides otherwise for createServer, as the specification says', () => {
    const { server } = resolve({}, { purpose: 'library' })
    expect(server).toMatchObject({ address: { host: undefined, port: 8080, named: true }, sessionStorage: 'memory' })
    expect(server).toMatchObject({ requestTimeoutMs: 30_000, runTimeoutMs: 30_000 })
    expect(server.vectorDb ?? server.summaryManager).toBeUndefined()
  })

  it('takes what the file says', () => {
    const server = resolveServer({
      address: '[::1]:9000',
      prefix: '/v2/',
      sessionStorage: { type: 'sqlite', path: 'my.db', synchronous: 'NORMAL' },
      debug: true,
      allowOrigins: ['https://example.org'],
      requestTimeout: '10m',
      maxRequestSize: '512KB',
      healthPath: '/up/',
      vectorDb: { baseUrl: 'vectors', database: 'mine' },
      embedding: { provider: 'openai', model: 'm', apiKey: 'k' },
      knowledgeApi: { content: false },
      a2a: { prefix: '/' },
      auth: { keys: ['one'] },
      retention: { maxAge: '30d', maxSessions: 5 },
    })
    expect(server).toMatchObject({
      address: { host: '::1', port: 9000, named: true },
      prefix: '/v2',
      sessionStorage: { type: 'sqlite', path: '/app/my.db', synchronous: 'NORMAL' },
      debug: true,
      requestTimeoutMs: 600_000,
      runTimeoutMs: 600_000,
      maxRequestBytes: 524_288,
      healthPath: '/up',
      vectorDb: { type: 'lancedb', baseUrl: '/app/vectors', database: 'mine' },
      embedding: { provider: 'openai', model: 'm', apiKey: 'k' },
      knowledgeApi: { search: true, config: true, content: false, documents: true },
      a2a: { prefix: '', publicCard: false },
      authKeys: [{ key: 'one', userId: undefined }],
      retention: { maxAgeMs: 30 * 86_400_000, maxSessions: 5 },
    })
  })

  it('puts flags over the environment, that over the file, that over defaults', () => {
    const server: ServerConfig = { address: 'file.test:1', allowHosts: ['file.test'], auth: { keys: ['file'] } }
    const environment = {
      AGENTSERVE_HOST: '127.0.0.2',
      AGENTSERVE_PORT: '2',
      AGENTSERVE_ALLOW_HOSTS: 'a.test, b.test,',
      AGENTSERVE_API_KEYS: 'k1,k2',
      AGENTSERVE_DATA: 'from-environment',
      AGENTSERVE_DEBUG: '',
      AGENTSERVE_STOP_WITHIN: '2m',
    }
    expect(resolveServer({})).toMatchObject({ address: { host: '127.0.0.1', port: 8080, named: false } })
    expect(resolveServer(server)).toMatchObject({
      address: { host: 'file.test', port: 1, named: true },
      allowHosts: ['file.test'],
      authKeys: [{ key: 'file', userId: undefined }],
    })
    expect(resolveServer(server, {}, environment)).toMatchObject({
      address: { host: '127.0.0.2', port: 2, named: true },
      allowHosts: ['a.test', 'b.test'],
      authKeys: [
        { key: 'k1', userId: undefined },
        { key: 'k2', userId: undefined },
      ],
      debug: false,
    })
    const flags = { host: '[::1]', port: 0, allowHosts: ['c.test'], data: '/flag' }
    expect(resolveServer(server, flags, environment)).toMatchObject({
      address: { host: '::1', port: 0, named: true },
      allowHosts: ['c.test'],
    })
    expect(resolve({}, { environment }).dataFolder).toBe(join('/app', 'from-environment'))
    expect(resolve({}, { flags, environment }).dataFolder).toBe('/flag')
  })

  it('names a port without a host on all interfaces when the file does, on loopback when the flag does', () => {
    expect(resolveServer({ address: ':9000' }).address).toEqual({ host: undefined, port: 9000, named: true })
    expect(resolveServer({}, { port: 9000 }).address).toEqual({ host: '127.0.0.1', port: 9000, named: true })
  })

  it('serves docs and echo when there is no config', async () => {
    const root = await mkdtemp(join(tmpdir(), 'agentserve-resolve-'))
    await writeFile(join(root, 'README.md'), '# Hello')
    const config = resolve(undefined, { file: undefined, root })
    await rm(root, { recursive: true })
    expect([...config.entities.keys()]).toEqual(['docs', 'echo'])
    expect(config.knowledge.sources).toEqual(['README.md'])
    expect(config.server).toMatchObject({ requestTimeoutMs: 30_000, runTimeoutMs: 600_000 })
    const echo = config.entities.get('echo') as unknown as { run(c: { text: string }): AsyncIterable<string> }
    expect(await collect(echo.run({ text: 'one two  three' }))).toEqual(['one ', 'two ', ' ', 'three'])
  })

  it('has no reranker unless one is asked for', () => {
    const rerankOf = (rerank: unknown) => resolve({ knowledge: { rerank } } as UserConfig).knowledge.rerank
    const usual = { model: 'Xenova/ms-marco-MiniLM-L-6-v2', candidates: 20, timeoutMs: 3_000 }
    expect(rerankOf(undefined)).toBeUndefined()
    expect(rerankOf(false)).toBeUndefined()
    expect(rerankOf(true)).toEqual(usual)
    expect(rerankOf({})).toEqual(usual)
    const own = { model: './models/mine', candidates: 50, timeout: '1s', dtype: 'q8' }
    expect(rerankOf(own)).toEqual({ model: './models/mine', candidates: 50, timeoutMs: 1_000, dtype: 'q8' })
  })

  it('keeps entities in the order agents, teams, workflows, bound to the config', () => {
    const bindings: unknown[] = []
    const entities = resolve(
      {
        model: 'ollama/m',
        workflows: { w: runnable('workflow') },
        agents: { a: runnable() },
        teams: { t: runnable('team') },
      },
      {
        parts: {
          ...parts,
          toRunnable(value, kind, binding) {
            bindings.push([kind, binding])
            return value as Runnable
          },
        },
      },
    ).entities
    expect([...entities.keys()]).toEqual(['a', 't', 'w'])
    const limits = usualLimits()
    const binding = {
      id: 'a',
      fetchUrls: true,
      runTimeoutMs: 600_000,
      model: 'ollama/m',
      root: '/app',
      mcp: expect.anything(),
      limits,
    }
    expect(bindings[0]).toEqual(['agent', binding])
  })
})

const prefix = `${relative(process.cwd(), '/app/agent.config.ts')}: `

describe('a complaint of resolveConfig', () => {
  it.each<[string, unknown, string]>([
    [
      'requestTimeout',
      '30 parsecs',
      "must be a time from 1 ms to 24 days: milliseconds, or a number with ms, s, m, h or d, not '30 parsecs'",
    ],
    [
      'requestTimeout',
      '30d',
      "must be a time from 1 ms to 24 days: milliseconds, or a number with ms, s, m, h or d, not '30d'",
    ],
    ['maxRequestSize', -1, 'must be a number of bytes above 0, or a size with KB, MB or GB, not -1'],
    ['address', '8080', "must be 'host:port', ':port' or '[v6]:port', not '8080'"],
    ['address', ':70000', "must be 'host:port', ':port' or '[v6]:port', not ':70000'"],
    ['prefix', 'api', "must be a path that begins with '/', not 'api'"],
    ['healthPath', '', "must be a path that begins with '/', not ''"],
    ['debug', 'yes', "must be true or false, not 'yes'"],
    ['allowOrigins', 'x', "must be a list, not 'x'"],
    ['allowOrigins', ['*', 'https://a.test'], "has '*' beside others; write '*' alone, or origins"],
    [
      'sessionStorage',
      'disk',
      "must be 'memory', { type: 'sqlite', path }, { type: 'postgres', url }, or an object that implements the store, not 'disk'",
    ],
    ['logger', {}, 'must be an object with the methods debug, info, warn and error, not an object'],
    ['summaryManager', 5, 'must be new SummaryManager({ model, timeout }), not 5'],
    ['auth', 'key', "must be an object with keys, jwt, not 'key'"],
    ['trustProxy', true, "must be the address of a proxy, a range like '10.0.0.0/8', or 'loopback', not true"],
    [
      'trustProxy',
      '10.0.0.0/33',
      "must be the address of a proxy, a range like '10.0.0.0/8', or 'loopback', not '10.0.0.0/33'",
    ],
  ])('about server.%s = %j names file, key, value and what is allowed', (key, value, message) => {
    expect(complaints({ server: { [key]: value } })).toEqual([`${prefix}server.${key} ${message}.`])
  })

  it.each<[string, unknown, string]>([
    [
      'server.allowOrigins.1',
      { server: { allowOrigins: ['https://a.test', 'https://a.test/path'] } },
      "must be '*' or an origin such as 'https://example.org', not 'https://a.test/path'",
    ],
    ['server.allowMethods.0', { server: { allowMethods: ['get'] } }, "must be an HTTP method in capitals, not 'get'"],
    ['server.allowHeaders.0', { server: { allowHeaders: ['a b'] } }, "must be a header name, not 'a b'"],
    ['server.allowHosts.0', { server: { allowHosts: [1] } }, 'must be a text that is not empty, not 1'],
    [
      'server.sessionStorage.path',
      { server: { sessionStorage: { type: 'sqlite', path: ':memory:' } } },
      "must be the path of a file (for memory write 'memory'), not ':memory:'",
    ],
    [
      'server.sessionStorage.path',
      { server: { sessionStorage: { type: 'sqlite' } } },
      "is missing; it must be the path of a file (for memory write 'memory')",
    ],
    [
      'server.sessionStorage.synchronous',
      { server: { sessionStorage: { type: 'sqlite', path: 'a', synchronous: 'OFF' } } },
      "must be 'FULL' or 'NORMAL', not 'OFF'",
    ],
    [
      'server.vectorDb.type',
      { server: { vectorDb: { type: 'pinecone' } } },
      "must be one of 'lancedb', 'memory', 'postgres', not 'pinecone'",
    ],
    [
      'server.vectorDb.tenant',
      { server: { vectorDb: { tenant: '../x' } } },
      "must be 1 to 64 of A-Z a-z 0-9 _ -, not '../x'",
    ],
    [
      'server.vectorDb.collectionName',
      { server: { vectorDb: { collectionName: '.x' } } },
      "must be 1 to 64 letters, digits, ., - and _, beginning with a letter or digit, not '.x'",
    ],
    [
      'knowledge.collection',
      { knowledge: { collection: 'x'.repeat(65) } },
      `must be 1 to 64 letters, digits, ., - and _, beginning with a letter or digit, not '${'x'.repeat(60)}…'`,
    ],
    [
      'server.embedding.provider',
      { server: { embedding: { provider: 'x' } } },
      "must be one of 'auto', 'static', 'transformers', 'lexical', 'openai', not 'x'",
    ],
    ['server.knowledgeApi.search', { server: { knowledgeApi: { search: 1 } } }, 'must be true or false, not 1'],
    ['server.files.fetchUrls', { server: { files: { fetchUrls: 'no' } } }, "must be true or false, not 'no'"],
    ['server.a2a.prefix', { server: { a2a: { prefix: 1 } } }, "must be a path that begins with '/', not 1"],
    [
      'server.a2a.prefix',
      { server: { prefix: '/api/', a2a: { prefix: '/api' } } },
      "is '/api', and that is server.prefix: change one of them",
    ],
    [
      'server.a2a.publicUrl',
      { server: { a2a: { publicUrl: 'agents.example.org' } } },
      "must be an http(s) address such as 'https://agents.example.org', not 'agents.example.org'",
    ],
    [
      'server.retention.maxSessions',
      { server: { retention: { maxSessions: 0.5 } } },
      `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}, not 0.5`,
    ],
    [
      'server.retention.maxAge',
      { server: { retention: { maxAge: 'old' } } },
      "must be milliseconds or a time like '500ms', '30s', '10m', '2h' or '30d', not 'old'",
    ],
    ['server', { server: [] }, /^must be an object with address, .*, not a list$/ as never],
    [
      'model',
      { model: 'gpt' },
      "is 'gpt', which is not a model: write provider/model, the provider one of ollama, lmstudio, openai, anthropic, google",
    ],
    [
      'model',
      { model: { baseURL: 'localhost', model: 'm' } },
      'is an object, which is not a model: `baseURL` must be an http or https address',
    ],
    ['knowledge.weights.a*', { knowledge: { weights: { 'a*': 2 } } }, 'must be a number from 0 to 1, not 2'],
    ['knowledge.weights.a', { knowledge: { weights: { a: '1' } } }, "must be a number from 0 to 1, not '1'"],
    [
      'knowledge.weights',
      { knowledge: { weights: [0.5] } },
      "must be an object with one weight per pattern, for example { 'archive/**': 0.5 }, not a list",
    ],
    [
      'knowledge.weights.!a',
      { knowledge: { weights: { '!a': 0.5 } } },
      "is named by a pattern with '!', which is not understood; write what it shall match",
    ],
    [
      'knowledge.weights. ',
      { knowledge: { weights: { ' ': 0.5 } } },
      "must be named by a pattern of sources, for example 'archive/**'",
    ],
    ['knowledge.chunkSize', { knowledge: { chunkSize: 20_001 } }, 'must be a whole number from 1 to 20000, not 20001'],
    [
      'knowledge.chunkOverlap',
      { knowledge: { chunkSize: 10, chunkOverlap: 10 } },
      'must be less than knowledge.chunkSize (10), not 10',
    ],
    [
      'knowledge.maxFileSize',
      { knowledge: { maxFileSize: '5TB' } },
      "must be a number of bytes above 0, or a size with KB, MB or GB, not '5TB'",
    ],
    [
      'knowledge.rerank',
      { knowledge: { rerank: 'Xenova/ms-marco' } },
      "must be an object with model, candidates, timeout, dtype, not 'Xenova/ms-marco'",
    ],
    ['knowledge.rerank.model', { knowledge: { rerank: { model: ' ' } } }, "must be a text that is not empty, not ' '"],
    [
      'knowledge.rerank.candidates',
      { knowledge: { rerank: { candidates: 1 } } },
      'must be a whole number from 2 to 100, not 1',
    ],
    [
      'knowledge.rerank.timeout',
      { knowledge: { rerank: { timeout: '2m' } } },
      "must be a time from 1 ms to 60 s: milliseconds, or a time like '500ms' or '3s', not '2m'",
    ],
    ['knowledge.sources.0', { knowledge: { sources: [''] } }, "must be a text that is not empty, not ''"],
    [
      'knowledge.sources.0',
      { knowledge: { sources: ['git:ext::sh -c x'] } },
      "must name a repository by an https:// address or a folder, like 'git:https://example.com/repository#main'; a folder in it follows #: 'git:../handbook#main:docs', or 'git:../handbook#:docs' without a ref",
    ],
    [
      'knowledge.sources.0.url',
      { knowledge: { sources: [{ url: 'git:docs#main:../etc' }] } },
      'names a folder that is not inside the repository',
    ],
    [
      'knowledge.sources.0.every',
      { knowledge: { sources: [{ url: 'https://host.test', every: '5s' }] } },
      "must be a time from '1m' to '24d', not '5s'",
    ],
    [
      'knowledge.sources.0.url',
      { knowledge: { sources: [{ url: 'ftp://ann:secret@host.test' }] } },
      "must be an address like 'https://example.com/docs/' or 'git:https://example.com/repository#main'",
    ],
    ['dispose', { dispose: true }, 'must be a function, not true'],
    ['mcpServers', { mcpServers: [] }, 'must be an object with one entry per name, not a list'],
    [
      'mcpServers.files',
      { mcpServers: { files: { comand: 'npx' } } },
      'must be { command, args, env, cwd } or { url, headers }',
    ],
    ['agents', { agents: [] }, 'must be an object with one entry per id, not a list'],
    ['agents.a', { agents: { a: 'x' } }, "must be agent({ … }) or an AI SDK Agent, not 'x'"],
    ['teams.a', { teams: { a: {} } }, 'is not a team; expected team({ … })'],
    ['agents.a', { agents: { a: { broken: true } } }, 'temperature is hot'],
    ['agents.t', { agents: { t: runnable('team') } }, 'is a team: write it under teams'],
    [
      'teams.t.members',
      { agents: { docs: runnable() }, teams: { t: team({ members: ['docz'] }) } },
      "names 'docz', which is not an agent, team or workflow of this config; did you mean 'docs'",
    ],
    [
      'teams.a',
      { agents: { a: runnable() }, teams: { a: runnable('team') } },
      'has the same id as agents.a: give it another',
    ],
    [
      'agents.a b',
      { agents: { 'a b': runnable() } },
      "is not an id: write 1 to 128 characters without spaces, '/', '?' and '#'",
    ],
  ])('about %s names it: %j', (key, user, message) => {
    expect(complaints(user)).toEqual([
      typeof message === 'string'
        ? `${prefix}${key} ${message}.`
        : expect.stringMatching(/server must be an object with address, .*, not a list\.$/),
    ])
  })

  it.each([
    ['server.requestTimout', { server: { requestTimout: 1 } }, "did you mean 'requestTimeout'"],
    ['agent', { agent: {} }, "did you mean 'agents'"],
    ['server.colour', { server: { colour: 1 } }, 'expected one of address, prefix'],
    ['__proto__x', { __proto__x: 1 }, 'expected one of model'],
  ])('about the unknown %s helps', (key, user, help) => {
    const [complaint] = complaints(user)
    expect(complaint).toContain(`${prefix}${key} is not a setting; ${help}`)
  })

  it('never shows a secret', () => {
    const server = { auth: { keys: ['has a space: s3cret'] }, embedding: { apiKey: ['s3cret'] } }
    const text = complaints({ server }).join()
    expect(text).toContain('server.auth.keys.0 must be a text of visible ASCII characters')
    expect(text).not.toContain('s3cret')
  })

  it('comes with all others at once, the environment and flags named as such', () => {
    const environment = { AGENTSERVE_PORT: 'abc', AGENTSERVE_HOST: 'a b', AGENTSERVE_ALLOW_UNAUTHENTICATED: 'maybe' }
    expect(complaints({ server: { debug: 1 }, x: 1 }, { environment, flags: { port: 70_000 } })).toEqual([
      `${prefix}server.debug must be true or false, not 1.`,
      expect.stringContaining(`${prefix}x is not a setting`),
      "AGENTSERVE_PORT must be a port from 0 to 65535, not 'abc'.",
      "AGENTSERVE_HOST must be a host name or an IP address, not 'a b'.",
      '--port must be a port from 0 to 65535, not 70000.',
      "AGENTSERVE_ALLOW_UNAUTHENTICATED must be true, false, 1 or 0, not 'maybe'.",
    ])
  })

  it('says what sources need in createServer', () => {
    const [complaint] = complaints({ knowledge: { sources: ['docs'] } }, { purpose: 'library', file: undefined })
    expect(complaint).toBe("config: knowledge.sources needs server.vectorDb, for example { type: 'lancedb' }.")
  })
})

import { Validator } from '@seriousme/openapi-schema-validator'
import { afterEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { apiRoutes } from '../../src/api/routes.ts'
import type { Knowledge } from '../../src/core/knowledge/knowledge.ts'
import { a2aDocs } from '../../src/protocols/a2a/docs.ts'
import { chatDocs } from '../../src/protocols/chat/docs.ts'
import { echo } from '../support/services.ts'
import { openTestServer, type TestServer, type TestServerOptions } from './server.ts'

let server: TestServer
afterEach(() => server.close())

const extraDocs = [...a2aDocs('/api/v1/a2a'), ...chatDocs('/api/v1')]

// Routes are mounted for it; none of them is called here.
const knowledge = {} as Knowledge

async function open(options: TestServerOptions = {}) {
  server = await openTestServer({ entities: { echo }, knowledge, ...options })
  return (await server.call('GET', '/openapi.json')).body
}

interface Operation {
  operationId: string
  responses: Record<string, unknown>
  security?: unknown[]
}

const operations = (document: { paths: Record<string, Record<string, Operation>> }) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, ...operation })),
  )

describe('the OpenAPI document', () => {
  it('is valid, the same in YAML and JSON, and complete', async () => {
    const document = await open({ settings: { extraDocs } })
    const yaml = await server.call('GET', '/openapi.yaml')
    expect(yaml.headers['content-type']).toMatch(/^application\/yaml/)
    expect(parse(yaml.body)).toEqual(document)
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
    const routes = apiRoutes(server.services, server.settings)
    const mounted = routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    const described = operations(document).map(({ route }) => route)
    expect(described.toSorted()).toEqual(
      [...mounted, ...extraDocs.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)].toSorted(),
    )
  })

  it('refers only to what it holds, and names each operation once', async () => {
    const document = await open({ settings: { extraDocs } })
    const names = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      ([, name]) => name,
    )
    expect(names.length).toBeGreaterThan(50)
    for (const name of names) expect(document.components.schemas).toHaveProperty([name ?? ''])
    const ids = operations(document).map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('describes bodies, parameters, streams and errors', async () => {
    const { paths, components } = await open()
    const run = paths['/api/v1/agents/{id}/run'].post
    expect(run.requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/RunRequest' })
    expect(components.schemas.RunRequest).toMatchObject({
      required: ['input'],
      properties: { stream: { type: 'boolean' } },
    })
    expect(Object.keys(run.responses)).toEqual(
      expect.arrayContaining(['200', '202', '400', '404', '409', '422', '500', '504']),
    )
    expect(run.responses[200].content['text/event-stream'].schema).toEqual({ $ref: '#/components/schemas/RunEvent' })
    expect(run.responses[404].description).toContain('agent_not_found')
    const limit = paths['/api/v1/sessions'].get.parameters.find(({ name }: { name: string }) => name === 'limit')
    expect(limit).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    })
    expect(Object.keys(paths['/api/v1/knowledge/content'].post.requestBody.content)).toHaveLength(3)
    expect(run.parameters[0].examples).toEqual({ echo: { value: 'echo' } })
  })

  it('lists what is mounted now', async () => {
    const knowledgeApi = { search: true, config: false, content: false, documents: false }
    const document = await open({ settings: { knowledgeApi, prefix: '/x', healthPath: '/alive' } })
    const paths = Object.keys(document.paths)
    expect(paths.filter((path) => path.includes('knowledge'))).toEqual(['/x/knowledge/search'])
    expect(paths).toEqual(expect.arrayContaining(['/alive', '/alive/ready', '/x/sessions']))
    expect(paths).not.toContain('/health')
    server.services.registry.register('second', echo)
    server.kernel.setRoutes(apiRoutes(server.services, server.settings))
    const later = (await server.call('GET', '/openapi.json')).body
    expect(Object.keys(later.paths['/x/agents/{id}'].get.parameters[0].examples)).toEqual(['echo', 'second'])
  })

  it('asks for a key where one is needed', async () => {
    const document = await open({ settings: { authRequired: true } })
    expect(document.security).toEqual([{ bearer: [] }, { apiKey: [] }])
    const openRoutes = operations(document).filter(({ security }) => security?.length === 0)
    expect(openRoutes.map(({ route }) => route).toSorted()).toEqual([
      'GET /',
      'GET /docs',
      'GET /docs/assets/{file}',
      'GET /health',
      'GET /health/ready',
    ])
    expect(document.paths['/api/v1/sessions'].get.responses).toHaveProperty('401')
  })
})

describe('/docs', () => {
  it('loads nothing but what is served here, and runs no inline script', async () => {
    await open()
    const page = await server.call('GET', '/docs')
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    expect(page.headers['content-security-policy']).toContain("script-src 'self';")
    const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link)
    expect(links).toContain('/docs/assets/swagger-ui-bundle.js')
    for (const link of links.filter((link) => link !== 'data:,')) {
      const { status, headers } = await server.call('GET', link ?? '')
      expect([link, status]).toEqual([link, 200])
      if (link?.endsWith('.js')) expect(headers['content-type']).toMatch(/^text\/javascript/)
      if (link?.endsWith('.css')) expect(headers['content-type']).toMatch(/^text\/css/)
    }
    expect(page.body).not.toMatch(/<script>|\son\w+=|https?:/)
  })

  it('sends an asset once', async () => {
    await open()
    const asset = '/docs/assets/docs.js'
    const { headers } = await server.call('GET', asset)
    const again = await server.call('GET', asset, undefined, { 'if-none-match': headers.etag ?? '' })
    expect([again.status, again.body]).toEqual([304, ''])
  })

  it.each(['package.json', '..%2Fpackage.json', 'none'])('has no asset %s', async (file) => {
    await open()
    expect((await server.call('GET', `/docs/assets/${file}`)).body.error.code).toBe('route_not_found')
  })
})

describe('GET / and health', () => {
  it('tell a browser and a client where things are', async () => {
    await open()
    const page = await server.call('GET', '/', undefined, { accept: 'text/html,*/*' })
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    expect(page.body).toContain('href="/docs"')
    expect((await server.call('GET', '/')).body).toMatchObject({
      service: 'agentserve',
      docs: '/docs',
      health: '/health',
    })
  })

  it('answer, and say whether work is taken', async () => {
    let now = 61_000
    let ready = true
    const readiness = async () =>
      ready
        ? ({ status: 'ready', checks: { storage: 'ok', knowledge: 'ok' } } as const)
        : ({ status: 'stopping', checks: { storage: 'ok', knowledge: 'off' } } as const)
    await open({ settings: { clock: () => now, startedAtMs: 1000, readiness } })
    expect((await server.call('GET', '/health')).body).toEqual({
      status: 'ok',
      service: 'agentserve',
      version: '1.2.3',
      started_at: '1970-01-01T00:00:01.000Z',
      uptime_seconds: 60,
    })
    expect(await server.call('GET', '/health/ready')).toMatchObject({ status: 200, body: { status: 'ready' } })
    ready = false
    now = 0
    expect(await server.call('GET', '/health/ready')).toMatchObject({ status: 503, body: { status: 'stopping' } })
    expect((await server.call('GET', '/health')).body.uptime_seconds).toBe(0)
  })
})

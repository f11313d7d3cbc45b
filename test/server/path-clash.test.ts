import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/config/config-error.ts'
import { resolveConfig } from '../../src/config/resolve.ts'
import type { ServerConfig } from '../../src/config/types.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { json } from '../../src/http/reply.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { configParts, createServer, openServer } from '../../src/server.ts'
import { startServer } from '../support/server.ts'

const create = (config: ServerConfig) => () => createServer({ ...config, logger: silentLogger })

describe('two settings that lead to the same path', () => {
  test.for<[config: ServerConfig, message: string]>([
    [
      { healthPath: '/api/v1/agents' },
      "config: server.prefix ('/api/v1') and server.healthPath ('/api/v1/agents') both lead to '/api/v1/agents': change one of them.",
    ],
    [
      { healthPath: '/v1/models' },
      "config: server.healthPath ('/v1/models') and server.openai.prefix ('/v1') both lead to '/v1/models': change one of them.",
    ],
    [
      { mcp: { path: '/api/v1/agents' } },
      "config: server.prefix ('/api/v1') and server.mcp.path ('/api/v1/agents') both lead to '/api/v1/agents': change one of them.",
    ],
    [
      { mcp: { path: '/api/v1/a2a/sendMessage' } },
      "config: server.a2a.prefix ('/api/v1/a2a') and server.mcp.path ('/api/v1/a2a/sendMessage') both lead to '/api/v1/a2a/sendMessage': change one of them.",
    ],
    [{ healthPath: '/' }, "config: server.healthPath ('/') leads to '/', which is always taken: change it."],
    [
      { healthPath: '/openapi.json' },
      "config: server.healthPath ('/openapi.json') leads to '/openapi.json', which is always taken: change it.",
    ],
    [
      { healthPath: '/.well-known/agent.json' },
      "config: server.healthPath ('/.well-known/agent.json') leads to '/.well-known/agent.json', which is always taken: change it.",
    ],
    [
      { a2a: { prefix: '/api/v1/chat' } },
      "config: server.a2a.prefix ('/api/v1/chat') leads to '/api/v1/chat/sendMessage' and server.prefix ('/api/v1') to '/api/v1/chat/:agent', which one request can mean: change one of them.",
    ],
    [
      { openai: { prefix: '/api/v1/chat' } },
      "config: server.prefix ('/api/v1') leads to '/api/v1/chat/:agent/:chat_id/stream' and server.openai.prefix ('/api/v1/chat') to '/api/v1/chat/models/**:model', which one request can mean: change one of them.",
    ],
    [
      { healthPath: '/api/v1/a2a/agents' },
      "config: server.healthPath ('/api/v1/a2a/agents') and server.a2a.prefix ('/api/v1/a2a') both lead to '/api/v1/a2a/agents': change one of them.",
    ],
    [
      { healthPath: '/v1/models/alive' },
      "config: server.healthPath ('/v1/models/alive') leads to '/v1/models/alive' and server.openai.prefix ('/v1') to '/v1/models/**:model', which one request can mean: change one of them.",
    ],
    [
      { prefix: '/v1/models', openai: { prefix: '/v1' } },
      "config: server.prefix ('/v1/models') leads to '/v1/models/sessions' and server.openai.prefix ('/v1') to '/v1/models/**:model', which one request can mean: change one of them.",
    ],
  ])('%j are refused at creation', ([config, message]) => {
    expect(create(config)).toThrow(ConfigError)
    expect(create(config)).toThrow(message)
  })

  test.for<[why: string, config: ServerConfig]>([
    ['none is changed', {}],
    ['all are below another', { prefix: '/x/api', healthPath: '/x/health', a2a: { prefix: '/x/a2a' } }],
    ['one is at the root', { prefix: '/' }],
    ['another is at the root', { a2a: { prefix: '/' } }],
    ['OpenAI is at the root', { openai: { prefix: '/' } }],
    ['one is below what OpenAI refuses', { openai: { prefix: '/api' }, healthPath: '/api/health' }],
    ['MCP is below another', { mcp: { path: '/api/v1/mcp' } }],
    ['the other is off', { openai: false, healthPath: '/v1/models' }],
    ['useChat is off', { chat: false, a2a: { prefix: '/api/v1/chat' } }],
    ['only another method of a parameter is left', { healthPath: '/api/v1/agents/x/run' }],
  ])('are none when %s', ([_, config]) => {
    expect(create(config)).not.toThrow()
  })
})

test("the user's own routes replace ours, before the start and after", async () => {
  const running = await startServer({ sessionStorage: 'memory', vectorDb: { type: 'memory' } })
  const own = (text: string) => () => json(text)
  try {
    running.server.healthRouter('/v1/models').route({ handler: own('mine') })
    running.server.healthRouter().route({ handler: own('well') })
    running.server.resync()
    expect((await running.call('GET', '/v1/models')).text).toContain('mine')
    expect((await running.call('GET', '/health')).text).toContain('well')
  } finally {
    await running.close()
  }
})

test('a config that is read again is refused too, and is disposed of; the last one is served on', async () => {
  const echo = agent({ run: () => ['x'] })
  const disposed: string[] = []
  const configOf = (name: string, server: ServerConfig) =>
    resolveConfig({
      user: {
        server: { sessionStorage: 'memory', vectorDb: { type: 'memory' }, logger: silentLogger, ...server },
        agents: { [name]: echo },
        dispose: () => void disposed.push(name),
      },
      root: process.cwd(),
      purpose: 'library',
      parts: configParts,
    })
  const server = openServer(configOf('one', {}), { mode: 'embedded' })
  try {
    await expect(server.reload(configOf('two', { healthPath: '/v1/models' }))).rejects.toThrow(
      /server\.healthPath .* and server\.openai\.prefix .* both lead to '\/v1\/models'/,
    )
    expect(disposed).toEqual(['two'])
    expect((await server.inject({ url: '/health' })).status).toBe(200)
    await server.reload(configOf('three', { healthPath: '/alive' }))
    expect(server.services.registry.ids()).toEqual(['three'])
  } finally {
    await server.close()
  }
})

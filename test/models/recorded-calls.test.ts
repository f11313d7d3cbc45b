import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isModelObject, type ModelSetting } from '../../src/core/model.ts'
import { describeModel } from '../../src/models/name.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { eventsOf, serveAgents } from '../runnables/agent-server.ts'
import { keyVariables, modelOf, openRecorded, recordedCalls } from './recorded-calls.ts'

beforeAll(() => {
  for (const name of keyVariables) vi.stubEnv(name, 'key-of-nobody-0123456789')
})
afterAll(() => {
  vi.unstubAllEnvs()
})

describe.each(recordedCalls)('a call of $name ($answer)', (call) => {
  test('is recorded with its model, its usage and when its text began', async () => {
    await using recorded = await openRecorded(call)
    const told: unknown[] = []
    const model = await modelOf(call, recorded.fetch)
    const hooks = {
      modelCall: async (info: { model: string }, next: () => Promise<{ usage: unknown }>) => {
        told.push(info.model, (await next()).usage)
      },
    }
    await using server = await serveAgents({ plain: agent({ model }), hooked: agent({ model, hooks }) })
    for (const id of ['plain', 'hooked']) {
      const { streamed, runId } = await server.ask(id, 'Why is it foggy?', { stream: true })
      expect(eventsOf(streamed, 'model_call_start')).toMatchObject([{ model: call.name }])
      const [end] = eventsOf(await server.events(runId), 'model_call_end')
      expect(end?.model).toBe(call.name)
      expect(end?.usage).toStrictEqual(call.usage)
      expect(end?.first_text_ms).toBeGreaterThanOrEqual(0)
      expect(end?.first_text_ms).toBeLessThanOrEqual(end?.duration_ms ?? 0)
      const { json } = await server.call('GET', `/api/v1/runs/${runId}`)
      expect(json.usage).toStrictEqual(call.usage)
    }
    expect(told).toStrictEqual([call.name, call.usage])
  })
})

describe('the name of a model', () => {
  test('is provider/model, also of an address that everyone knows', () => {
    for (const { model, name } of recordedCalls)
      if (typeof model === 'object' && !isModelObject(model)) expect(describeModel(model)).toBe(name)
  })

  test.each<[ModelSetting, string]>([
    ['ollama/library/qwen3:8b', 'ollama/library/qwen3:8b'],
    [{ baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3:8b' }, 'ollama/qwen3:8b'],
    [{ baseURL: 'http://localhost:1234/v1', model: 'qwen3-8b' }, 'lmstudio/qwen3-8b'],
    [{ baseURL: 'https://openrouter.ai/api/v1', model: 'x-ai/grok-4' }, 'openrouter/x-ai/grok-4'],
    // A gateway of one's own may pass the call on to anyone.
    [{ baseURL: 'http://127.0.0.1:4000/v1', model: 'gpt-5' }, 'compatible/gpt-5'],
    [{ baseURL: 'http://user:pass@host/v1', model: 'm', apiKey: 'k' }, 'compatible/m'],
    [{ baseURL: 'https://api.mistral.ai.example.com/v1', model: 'm' }, 'compatible/m'],
    [new MockLanguageModelV4({ provider: 'openai.responses', modelId: 'gpt-5' }), 'openai/gpt-5'],
    [new MockLanguageModelV4({ provider: 'google.vertex.chat', modelId: 'm' }), 'google.vertex/m'],
  ])('has no key and no address (%#)', (setting, name) => {
    expect(describeModel(setting)).toBe(name)
  })
})

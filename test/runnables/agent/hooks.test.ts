import { AsyncLocalStorage } from 'node:async_hooks'
import { APICallError } from 'ai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { eventsOf, serveAgents, typesOf } from '../agent-server.ts'
import { answer, callTool, scripted } from '../fixture.ts'
import { weather } from '../weather.ts'

const seen: unknown[] = []
beforeEach(() => {
  seen.length = 0
})
const trace = new AsyncLocalStorage<string>()
const traced = tool({
  inputSchema: z.object({}),
  execute: async () => {
    seen.push(trace.getStore())
    return 'done'
  },
})
const cooled = scripted(answer('cool'))
const retried = scripted()
let attempts = 0
retried.doStream = async (options) => {
  if (attempts++ > 0) return scripted(answer('at last')).doStream(options)
  const responseHeaders = { 'retry-after-ms': '1' }
  throw new APICallError({ message: 'busy', url: '', requestBodyValues: {}, isRetryable: true, responseHeaders })
}

let server: Awaited<ReturnType<typeof serveAgents>>
beforeAll(async () => {
  server = await serveAgents({
    run: agent({
      model: scripted(answer('Hel', 'lo'), answer('again')),
      hooks: {
        async run({ text, entityId }, next) {
          seen.push(['before', text, entityId])
          seen.push(await next())
          seen.push(await next())
        },
      },
    }),
    storage: agent({
      model: scripted(callTool('traced', {}), answer('ok')),
      tools: { traced },
      hooks: { run: (_call, next) => trace.run('inside', next) },
    }),
    never: agent({ model: scripted(), hooks: { run: () => {} } }),
    thrower: agent({
      model: scripted(answer('kept')),
      hooks: {
        async run(_call, next) {
          await next()
          throw new Error('the hook broke')
        },
      },
    }),
    own: agent({
      run: () => ['a', 'b'],
      hooks: { run: async (_call, next) => void seen.push((await next()).text) },
    }),
    model: agent({
      model: cooled,
      hooks: {
        async modelCall({ model, params, run }, next) {
          seen.push([model, params.prompt.length, run.text])
          seen.push(await next({ ...params, temperature: 0.1 }))
        },
      },
    }),
    modelNever: agent({ model: scripted(), maxRetries: 0, hooks: { modelCall: () => {} } }),
    modelThrows: agent({
      model: scripted(answer('x')),
      maxRetries: 0,
      hooks: {
        async modelCall(_call, next) {
          await next()
          throw new Error('not allowed')
        },
      },
    }),
    modelFails: agent({
      model: scripted([{ type: 'error', error: new Error('overheated') }]),
      hooks: {
        async modelCall(_call, next) {
          await next().catch((error: Error) => seen.push(error.message))
        },
      },
    }),
    retried: agent({
      model: retried,
      hooks: {
        async modelCall(_call, next) {
          seen.push(
            await next().then(
              ({ text }) => text,
              (error: Error) => error.message,
            ),
          )
        },
      },
    }),
    step: agent({
      model: scripted(),
      prepareStep: () => ({ model: scripted(answer('other')) }),
      hooks: { modelCall: async ({ model }, next) => void seen.push(model, (await next()).text) },
    }),
    tool: agent({
      model: scripted(callTool('weather', { city: 'Bern' }), answer('fine')),
      tools: { weather },
      hooks: {
        async toolCall({ name, call_id, input, run }, next) {
          seen.push([name, call_id, input, run.text])
          const output = await next({ city: 'Basel' })
          seen.push(output)
          return { ...(output as object), degrees: 5 }
        },
      },
    }),
    denied: agent({
      model: scripted(callTool('weather', { city: 'Bern' }), answer('Sorry')),
      tools: { weather },
      hooks: {
        toolCall() {
          throw new Error('not today')
        },
      },
    }),
    search: agent({
      model: scripted(callTool('search_knowledge', { query: 'x' }), answer('nothing')),
      knowledge: { mode: 'tool' },
      hooks: { toolCall: ({ name, ...rest }, next) => next().finally(() => seen.push(name, Object.keys(rest))) },
    }),
  })
})
afterAll(() => server.close())

test('a hook goes round the run, which streams on meanwhile', async () => {
  const { streamed } = await server.ask('run', 'Hi', { stream: true })
  expect(eventsOf(streamed, 'text_delta').map(({ text }) => text)).toEqual(['Hel', 'lo'])
  const outcome = { text: 'Hello', data: undefined, usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 } }
  expect(seen).toEqual([['before', 'Hi', 'run'], outcome, outcome])
})

test('what a hook sets up is there inside: an AsyncLocalStorage reaches the tools', async () => {
  await server.ask('storage', 'x')
  expect(seen).toEqual(['inside'])
})

test('a hook that does not go on, or throws, fails the run', async () => {
  expect((await server.ask('never', 'x')).json.error.message).toBe('`hooks.run` did not call next().')
  const { status, runId } = await server.ask('thrower', 'x')
  expect(status).toBe(500)
  expect(eventsOf(await server.events(runId), 'text_delta')).toHaveLength(1)
})

test('a hook goes round an own run too', async () => {
  expect((await server.ask('own', 'x')).json.content).toBe('ab')
  expect(seen).toEqual(['ab'])
})

test('a hook goes round every model call and may change its parameters', async () => {
  expect((await server.ask('model', 'Hi')).json.content).toBe('cool')
  const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 }
  expect(seen).toEqual([['scripted/one', 1, 'Hi'], { text: 'cool', finish_reason: 'stop', usage }])
  expect(cooled.doStreamCalls[0]?.temperature).toBe(0.1)
  await server.ask('step', 'x')
  expect(seen.slice(2)).toEqual(['scripted/one', 'other'])
})

test('a model hook that does not go on, or throws, fails the call', async () => {
  expect((await server.ask('modelNever', 'x')).json.error.message).toBe('`hooks.modelCall` did not call next().')
  expect((await server.ask('modelThrows', 'x')).json.error.message).toContain('not allowed')
  expect((await server.ask('modelFails', 'x')).json.error.message).toContain('overheated')
  expect(seen).toEqual(['overheated'])
})

test('a hook goes round every attempt of a model call, and one that only watches changes nothing', async () => {
  expect((await server.ask('retried', 'x')).json.content).toBe('at last')
  expect(seen).toEqual(['busy', 'at last'])
})

test('a hook goes round every tool call, with other input and another result', async () => {
  const { runId } = await server.ask('tool', 'Bern?')
  expect(seen).toEqual([['weather', 'use-weather', { city: 'Bern' }, 'Bern?'], { city: 'Basel', degrees: 21 }])
  const events = await server.events(runId)
  expect(eventsOf(events, 'tool_result')[0]).toMatchObject({ output: { city: 'Basel', degrees: 5 } })
  await server.ask('search', 'x')
  expect(seen.slice(2)).toEqual(['search_knowledge', ['call_id', 'input', 'run']])
})

test('what a tool hook throws goes to the model and the record, like an error of the tool', async () => {
  const { json, runId } = await server.ask('denied', 'Bern?')
  expect(json.content).toBe('Sorry')
  const events = await server.events(runId)
  expect(eventsOf(events, 'tool_result')[0]).toMatchObject({ name: 'weather', error: { message: 'not today' } })
  expect(typesOf(events).at(-1)).toBe('run_end')
})

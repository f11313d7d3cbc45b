import { Output } from 'ai'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { Json } from '../../../src/core/json.ts'
import type { Ask, Asked, Runnable } from '../../../src/core/runnable.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import type { runContext } from '../../../src/runnables/base/run-context.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { asTool } from '../../../src/runnables/tools/as-tool.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { scripted } from '../fixture.ts'
import { weather } from '../weather.ts'

const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) })
interface Told {
  city: string
  degrees: number
}

test("a tool's input and output flow from its schema to every callback", () => {
  expectTypeOf(weather.execute).parameter(0).toEqualTypeOf<{ city: string }>()
  const entity = agent({
    tools: { weather },
    activeTools: ['weather'],
    toolChoice: { type: 'tool', toolName: 'weather' },
    timeout: { toolMs: 1_000, tools: { weatherMs: 50 } },
    onToolExecutionEnd: ({ toolOutput }) => {
      if (toolOutput.type === 'tool-result' && toolOutput.dynamic !== true)
        expectTypeOf(toolOutput.output).toEqualTypeOf<Told>()
    },
    onStepEnd: ({ toolCalls, toolResults }) => {
      for (const call of toolCalls)
        if (call.dynamic !== true) expectTypeOf(call.input).toEqualTypeOf<{ city: string }>()
      for (const result of toolResults) if (result.dynamic !== true) expectTypeOf(result.output).toEqualTypeOf<Told>()
    },
  })
  expectTypeOf(entity).toExtend<Runnable>()
})

test('structured output flows to guardrails, hooks and callbacks', () => {
  agent({
    output,
    guardrails: {
      input: ({ text, parts, state }) => {
        expectTypeOf(text).toEqualTypeOf<string>()
        expectTypeOf(state).toEqualTypeOf<Record<string, Json>>()
        return parts.length === 0 ? { refuse: 'Nothing was asked.' } : undefined
      },
      output: [({ data }) => expectTypeOf(data).toEqualTypeOf<Told | undefined>() && undefined],
    },
    hooks: {
      async run(_call, next) {
        expectTypeOf((await next()).data).toEqualTypeOf<Told | undefined>()
      },
      async modelCall({ params }, next) {
        expectTypeOf(params.temperature).toEqualTypeOf<number | undefined>()
        expectTypeOf((await next({ ...params, seed: 1 })).text).toEqualTypeOf<string>()
      },
      toolCall: ({ input }, next) => {
        expectTypeOf(input).toEqualTypeOf<unknown>()
        return next()
      },
    },
  })
  agent({ guardrails: { output: ({ data }) => expectTypeOf(data).toEqualTypeOf<Json | undefined>() && undefined } })
})

test('the context that a tool needs must be given, and flows', () => {
  const secret = tool({
    inputSchema: z.object({}),
    contextSchema: z.object({ tenant: z.string() }),
    execute: async (_input, { context }) => context.tenant.length,
  })
  agent({ tools: { secret }, toolsContext: { secret: { tenant: 'a' } } })
  // @ts-expect-error: `toolsContext` is missing
  agent({ tools: { secret } })
  // @ts-expect-error: `tenant` is a string
  agent({ tools: { secret }, toolsContext: { secret: { tenant: 1 } } })
})

test('what is wrong does not compile, and does not load', () => {
  const model = scripted()
  // @ts-expect-error: there is no such setting
  expect(() => agent({ model, instruction: 'x' })).toThrow(/did you mean 'instructions'/)
  // @ts-expect-error: a model name needs its provider
  expect(() => agent({ model: 'gpt' })).toThrow(/'gpt', which is not a model/)
  // @ts-expect-error: modes are 'first' and 'tool'
  expect(() => agent({ knowledge: { mode: 'last' } })).toThrow(/'first' or 'tool'/)
  // @ts-expect-error: a guardrail is a function
  expect(() => agent({ guardrails: { input: true } })).toThrow(/must be a function/)
  // @ts-expect-error: a refusal has a reason
  agent({ guardrails: { input: () => ({ refuse: true }) } })
  // @ts-expect-error: there is no such tool
  agent({ tools: { weather }, activeTools: ['wether'] })
  // @ts-expect-error: there is no such tool
  agent({ tools: { weather }, timeout: { tools: { wetherMs: 1 } } })
  // @ts-expect-error: the result has no such field
  agent({ output, guardrails: { output: ({ data }) => (data?.town === '' ? { refuse: 'x' } : undefined) } })
})

test('ask is in the context of workflows, own code and tools, and gives text, data and run', () => {
  workflow({
    async run({ ask }) {
      expectTypeOf(ask).toEqualTypeOf<Ask>()
      expectTypeOf(await ask('helper', 'x')).toEqualTypeOf<Asked>()
      await ask('helper', [
        { type: 'text', text: 'x' },
        { type: 'file', media_type: 'image/png', data: new Uint8Array() },
      ])
      // @ts-expect-error: an id is a text
      await ask(5, 'x')
      // @ts-expect-error: an entity is asked by its id
      await ask(agent({ run: () => 'x' }), 'x')
      // @ts-expect-error: a question is a text or parts
      await ask('helper', { text: 'x' })
      // @ts-expect-error: there is no such part
      await ask('helper', [{ type: 'image', url: 'x' }])
    },
  })
  agent({
    async *run({ ask }) {
      expectTypeOf(ask).toEqualTypeOf<Ask>()
      yield (await ask('helper', 'x')).text
    },
  })
  expectTypeOf<ReturnType<typeof runContext>['ask']>().toEqualTypeOf<Ask>()
})

test('entities are tools as they are, and by their id', () => {
  const helper = agent({ run: ({ text }) => text })
  const flow = workflow({ run: ({ text }) => text })
  const entity = agent({
    tools: { weather, helper, flow, group: team({ members: [helper] }), byId: asTool('helper') },
    activeTools: ['helper', 'flow', 'group', 'byId'],
    toolApproval: { helper: 'user-approval' },
  })
  expectTypeOf(entity).toExtend<Runnable>()
  // @ts-expect-error: an id is a text
  expect(() => asTool(5)).toThrow(/needs the id/)
  // @ts-expect-error: there is no such option
  expect(() => asTool('helper', { descripton: 'x' })).toThrow(/did you mean 'description'/)
})

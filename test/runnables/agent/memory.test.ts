import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '../../../src/core/message.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { remember } from '../../../src/runnables/agent/memory.ts'
import { memorySettings } from '../../../src/runnables/agent/schema.ts'
import type { AgentMemory } from '../../../src/runnables/agent/settings.ts'
import { ModelFiles } from '../../../src/runnables/files/model-files.ts'
import { answer, collect, fakeContext, scripted } from '../fixture.ts'

const minute = (n: number) => new Date(Date.UTC(2030, 0, 1, 0, n)).toISOString()

/** One run a minute, each of a question and an answer of so many characters. */
function runsOf(...sizes: number[]): Message[] {
  return sizes.flatMap((size, n) =>
    (['user', 'assistant'] as const).map((role) => {
      const content = `${n}`.padEnd(size, role === 'user' ? 'q' : 'a')
      const message = { message_id: `${role}${n}`, run_id: `run_${n}`, role, content, created_at: minute(n) }
      return { ...message, parts: [{ type: 'text' as const, text: content }] }
    }),
  )
}

function summaryAt(n: number, content = 'They talked.') {
  return { session_id: 's', content, model: 'm', run_count: n, message_count: n * 2, created_at: minute(n) }
}

async function told(memory: AgentMemory | undefined, history: Message[], summary?: ReturnType<typeof summaryAt>) {
  const context = fakeContext({ history, ...(summary === undefined ? {} : { summary }) })
  const messages = await remember(
    memorySettings.parse(memory ?? {}),
    context,
    new ModelFiles(context, { isOn: true, maxBytes: 1_000 }),
  )
  return messages.map(({ role, content }) => [role, content])
}

const spoken = (messages: Message[]) => messages.map(({ role, content }) => [role, content])
const summarised = ['user', 'Summary of the conversation so far:\nThey talked.']

test('tells everything without a budget and a summary', async () => {
  const history = runsOf(4, 4, 4)
  expect(await told(undefined, history)).toEqual(spoken(history))
  expect(await told({ runs: 0 }, history, summaryAt(1))).toEqual([])
})

test('tells the newest runs that fit, each whole', async () => {
  const history = runsOf(4, 4, 4)
  expect(await told({ tokens: 4 }, history)).toEqual(spoken(history.slice(2)))
  expect(await told({ tokens: 5 }, history)).toEqual(spoken(history.slice(2)))
  expect(await told({ tokens: 1 }, history)).toEqual([])
  const large = runsOf(4, 400, 4)
  expect(await told({ tokens: 50 }, large)).toEqual(spoken(large.slice(4)))
})

test('tells the summary in place of what came before it', async () => {
  const history = runsOf(4, 4, 4)
  expect(await told(undefined, history, summaryAt(2))).toEqual([summarised, ...spoken(history.slice(4))])
  expect(await told(undefined, history, summaryAt(5))).toEqual([summarised])
  expect(await told({ runs: 0, summary: true }, history, summaryAt(2))).toEqual([summarised])
  expect(await told({ summary: false }, history, summaryAt(2))).toEqual(spoken(history))
  expect(await told(undefined, history, summaryAt(2, ''))).toEqual(spoken(history))
})

test('counts the summary first, and tells what it covers when it does not fit', async () => {
  const history = runsOf(4, 4, 4)
  expect(await told({ tokens: 13 }, history, summaryAt(2))).toEqual([summarised])
  expect(await told({ tokens: 14 }, history, summaryAt(2))).toEqual([summarised, ...spoken(history.slice(4))])
  expect(await told({ tokens: 6 }, history, summaryAt(2))).toEqual(spoken(history))
})

test('keeps a run whole that went on while the summary was written', async () => {
  const history = runsOf(4, 4)
  const reply = history[1]
  if (reply !== undefined) reply.created_at = minute(3)
  expect(await told(undefined, history, summaryAt(2))).toEqual([summarised, ...spoken(history.slice(0, 2))])
})

test('never goes over its budget and never cuts a message', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(sizes, fc.integer({ min: 1, max: 500 }), async (lengths, tokens) => {
      const history = runsOf(...lengths)
      const messages = await told({ tokens }, history)
      expect(messages).toEqual(spoken(history).slice(history.length - messages.length))
      expect(messages.length % 2).toBe(0)
      expect(messages.reduce((sum, [, content]) => sum + Math.ceil(`${content}`.length / 4), 0)).toBeLessThanOrEqual(
        tokens,
      )
    }),
    { seed: 3 },
  )
})

test('goes into the prompt of the model', async () => {
  const model = scripted(answer('ok'))
  await collect(
    agent({ model, memory: { tokens: 14 } }),
    'Now?',
    fakeContext({ history: runsOf(4, 4, 4), summary: summaryAt(2) }),
  )
  const prompt = model.doStreamCalls[0]?.prompt.map(({ role, content }) => [role, JSON.stringify(content)])
  expect(prompt).toMatchObject([
    ['user', expect.stringContaining('They talked.')],
    ['user', expect.stringContaining('2qqq')],
    ['assistant', expect.stringContaining('2aaa')],
    ['user', expect.stringContaining('Now?')],
  ])
})

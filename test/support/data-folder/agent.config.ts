import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
import bench from '../../../bench/agent.config.ts'

/* The agents of the benchmark, and one whose runs have all that is recorded of models, tools and searches. */

const model = scriptedModel(({ prompt }) => {
  const done = prompt.filter(({ role }) => role === 'tool').length
  if (done === 0) return { text: 'I count.', tool_calls: [{ name: 'count', call_id: 'counting' }] }
  if (done === 1) return { tool_calls: [{ name: 'wipe', call_id: 'wiping' }] }
  return 'They dig in the evening [1].'
})
const answer = model.doStream.bind(model)
/** As a provider that caches prompts and reasons tells it. */
model.doStream = async (options) => {
  const { stream, ...rest } = await answer(options)
  const inputTokens = { total: 40, noCache: 10, cacheRead: 20, cacheWrite: 10 }
  const outputTokens = { total: 7, text: 4, reasoning: 3 }
  const telling = new TransformStream({
    transform(part, controller) {
      controller.enqueue(part.type === 'finish' ? { ...part, usage: { inputTokens, outputTokens } } : part)
    },
  })
  return { ...rest, stream: stream.pipeThrough(telling) }
}

export default defineConfig({
  ...bench,
  server: { studio: { again: true }, a2a: { push: { allowHttp: true, allowPrivate: true } } },
  agents: {
    ...bench.agents,
    remembering: agent({
      memory: { user: true },
      run: async ({ user, text }) => (await user.remember(text)).content,
    }),
    watched: agent({
      model,
      knowledge: { limit: 1 },
      tools: {
        count: tool({
          description: 'Counts to three',
          inputSchema: z.object({}),
          async *execute() {
            for (let counted = 1; counted <= 3; counted++) yield { counted }
          },
        }),
        wipe: tool({ description: 'Wipes a disk', inputSchema: z.object({}), execute: () => 'wiped' }),
      },
      toolApproval: { wipe: 'user-approval' },
    }),
  },
})

import { agent, defineConfig, workflow } from 'agentserve'
import { z } from 'zod'

export default defineConfig({
  // Any OpenAI-compatible endpoint; without a model, agents quote the best passages of the knowledge base.
  // model: { baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3:8b' },
  knowledge: { sources: ['docs'] },
  agents: {
    docs: agent({
      description: 'Answers from ./docs.',
      instructions: 'Answer from the passages; cite them.',
      knowledge: true,
    }),
  },
  workflows: {
    // Plain TypeScript. What runs inside `step` is recorded with its result, its errors and its time.
    report: workflow({
      description: 'A report on a topic, from the documents.',
      input: z.object({ topic: z.string().min(1), passages: z.int().min(1).max(10).default(3) }),
      async run({ input, step, knowledge }) {
        const facts = await step('collect', async ({ signal }) => {
          const found = await knowledge?.search({ query: input.topic, limit: input.passages }, signal)
          return (found?.results ?? []).map(({ content, source }) => ({ content, source }))
        })
        if (facts.length === 0) return `Nothing is known about ${input.topic}.\n`
        return step('write', { retries: 2, timeout: '1m' }, () => {
          const parts = facts.map(({ content, source }) => `${content.trim()}\n\n(${source})`)
          return `# ${input.topic}\n\n${parts.join('\n\n')}\n`
        })
      },
    }),
  },
})

import { agent, defineConfig, workflow } from 'agentserve'

export default defineConfig({
  // Any OpenAI-compatible endpoint; without a model, agents quote the best passages of the knowledge base.
  // model: { baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3:8b' },
  knowledge: { sources: ['docs'] },
  agents: {
    docs: agent({
      description: 'Answers from ./docs.',
      instructions: 'Answer from the passages; cite them.',
      knowledge: { limit: 6, mode: 'first' },
    }),
  },
  workflows: {
    // Waits until the draft is approved in the page, however long that takes.
    letter: workflow({
      description: 'Drafts a letter, and sends it after you have approved it.',
      async run({ input, step, approve }) {
        const draft = await step('draft', () => `Dear reader,\n\n${input}\n\nYours, the library\n`)
        await approve('send', { draft })
        return step('send', () => `This letter was sent:\n\n${draft}`)
      },
    }),
  },
})

import { agent, defineConfig } from 'agentserve'

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
    echo: agent({
      sideEffects: false,
      async *run({ text }) {
        for (const word of text.split(/(?<=\s)/)) yield word
      },
    }),
  },
})

import { agent, defineConfig } from 'agentserve'

export default defineConfig({
  knowledge: { sources: ['docs', 'README.md'] },
  agents: {
    docs: agent({
      description: 'Answers questions about agentserve from its documentation.',
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

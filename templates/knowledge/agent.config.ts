import { agent, defineConfig } from 'agentserve'

export default defineConfig({
  // Any OpenAI-compatible endpoint; without a model, agents quote the best passages of the knowledge base.
  // model: { baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3:8b' },
  knowledge: { sources: ['docs'], chunkSize: 800 },
  agents: {
    // Passages are looked up before the model is asked: one call, and always grounded.
    handbook: agent({
      description: 'Answers from the handbook, with its sources.',
      instructions: 'Answer from the passages alone and cite them. If they do not say it, say so.',
      knowledge: { mode: 'first', limit: 6 },
    }),
    // The model searches when and for what it wants: slower, and better at questions that need several look-ups.
    researcher: agent({
      description: 'Searches the handbook as often as it needs to.',
      instructions: 'Search the knowledge base, more than once if it helps. Answer with what you found; cite it.',
      knowledge: { mode: 'tool', limit: 4 },
    }),
  },
})

import { agent, defineConfig, team } from 'agentserve'

const research = agent({
  name: 'research',
  description: 'Finds what the documents say.',
  instructions: 'List the facts that answer the question, with their sources.',
  knowledge: { limit: 6 },
})

// An agent needs no model: this one is plain code.
const editor = agent({
  name: 'editor',
  description: 'Puts the findings into the form that goes out.',
  run({ text, answers }) {
    const findings = answers.at(-1)?.text ?? text
    return `Dear reader,\n\n${findings.trim()}\n\nYours, the desk\n`
  },
})

export default defineConfig({
  // Any OpenAI-compatible endpoint; without a model, agents quote the best passages of the knowledge base.
  // model: { baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3:8b' },
  knowledge: { sources: ['docs'] },
  agents: { research, editor },
  teams: {
    // One after the other: each member is given the question and the answers so far, the last one's answer is the team's.
    desk: team({
      description: 'Researches, then writes.',
      members: [research, editor],
      mode: 'sequence',
    }),
  },
})

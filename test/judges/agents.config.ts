import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { agent, defineConfig, tool, workflow } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'

/* What the judges talk to: the configuration of a project of its own, without a model of the world. */

const weather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, celsius: 9 }),
})
const refund = tool({
  description: 'Pays money back.',
  inputSchema: z.object({ euros: z.number() }),
  execute: async ({ euros }) => ({ paid: euros }),
})

/** Calls its tool with the input, and then says what came of it. */
const caller = (name: string, input: Record<string, string | number | string[]>, after: string) =>
  scriptedModel(({ prompt }) => {
    const last = prompt.at(-1)
    if (last?.role !== 'tool') return { reasoning: 'Hm.', text: 'One moment. ', tool_calls: [{ name, input }] }
    return `${after} ${JSON.stringify(last.content.map((part) => 'output' in part && part.output))}`
  })

/** Waits until the test writes the file. */
async function until(file: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(file)) await setTimeout(10, undefined, { signal })
}

let answers = 0

export default defineConfig({
  server: {
    a2a: { push: { allowHttp: true, allowPrivate: true } },
    auth: {
      keys:
        process.env.JUDGES_KEYS === undefined
          ? []
          : [
              'the-key-of-the-operator',
              { key: 'the-key-of-ann-0001', userId: 'ann' },
              { key: 'the-key-of-ben-0001', userId: 'ben' },
            ],
    },
  },
  agents: {
    forecast: agent({ model: caller('weather', { city: 'Ghent' }, 'It says'), tools: { weather } }),
    clerk: agent({
      model: caller('refund', { euros: 5 }, 'Done:'),
      tools: { refund },
      toolApproval: { refund: 'user-approval' },
    }),
    picker: agent({ model: caller('pick', { of: ['red', 'green'] }, 'Picked:') }),
    /** Calls a tool of the client twice at once. */
    pair: agent({
      model: scriptedModel(({ prompt }) => {
        const last = prompt.at(-1)
        if (last?.role === 'tool') return `Picked: ${JSON.stringify(last.content)}`
        return { tool_calls: ['red', 'blue'].map((color) => ({ name: 'pick', input: { of: [color] } })) }
      }),
    }),
    shaped: agent({ model: scriptedModel(() => '{"city":"Ghent","degrees":9}') }),
    library: agent({ knowledge: true }),
    /** Says what it sees, and how many messages came before. */
    recall: agent({
      async *run({ text, parts, history, instructions }) {
        const before = (await history()).map(({ role, content }) => `${role}: ${content}`)
        const files = parts.flatMap((part) => (part.type === 'file' ? [`${part.media_type} ${part.name ?? '-'}`] : []))
        yield JSON.stringify({ text, files, before, instructions })
      },
    }),
    /** Says which files it was given, and gives them back. */
    copier: agent({
      async *run({ text, parts }) {
        const files = parts.flatMap((part) => (part.type === 'file' ? [part] : []))
        yield `${text}: ${files.map(({ media_type, name, size }) => `${name} ${media_type} ${size}`).join(', ')}`
        yield* files
      },
    }),
    /** Asks for the fields of a form. */
    asker: agent({
      *run({ resumed }) {
        const properties = { city: { type: 'string' } }
        if (resumed === undefined) {
          const schema = { type: 'object', properties, required: ['city'] }
          yield { type: 'input_required', call_id: 'where', prompt: 'Where?', schema }
        } else yield `It is ${JSON.stringify(resumed.answers?.where?.input ?? resumed.input)}.`
      },
    }),
    /** Another answer each time. */
    counter: agent({
      *run({ text }) {
        answers++
        yield `Answer ${answers} to ${text}`
      },
    }),
    /** Counts in the state of its session. */
    tally: agent({
      *run({ state }) {
        state.count = Number(state.count ?? 0) + 1
        yield `Number ${state.count}`
      },
    }),
    /** Says a word, and the next one when the file of that name is there: `<text>-1`, `<text>-2`. */
    slow: agent({
      async *run({ text, signal }) {
        yield 'One '
        await until(`${text}-1`, signal)
        yield 'two '
        await until(`${text}-2`, signal)
        yield 'three.'
      },
    }),
    broken: agent({
      *run() {
        yield 'Half '
        throw new Error('The oven is cold.')
      },
    }),
  },
  workflows: {
    letter: workflow({
      async run({ input, step, approve }) {
        const draft = await step('draft', () => `Dear reader, ${input}`)
        await approve('send', { draft })
        return `Sent: ${draft}`
      },
    }),
  },
})

import { agent, defineConfig } from 'agentserve'
import { fragment } from './fragment.ts'

/* What the benchmark and the soak talk to; no model, so that only the server is measured. */

export default defineConfig({
  agents: {
    echo: agent({
      sideEffects: false,
      async *run({ text }) {
        yield text
      },
    }),
    fragments: agent({
      description: 'As many fragments as the text says.',
      sideEffects: false,
      async *run({ text }) {
        for (let index = 0; index < Number(text); index++) yield fragment(index)
      },
    }),
    recall: agent({
      sideEffects: false,
      async *run({ history }) {
        yield `${(await history(10)).length} messages`
      },
    }),
    slow: agent({
      description: 'Five fragments, 20 ms apart.',
      async *run({ text, signal }) {
        for (let index = 0; index < 5 && !signal.aborted; index++) {
          yield `${text} ${index} `
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      },
    }),
    ticking: agent({
      description: 'As many fragments as the text says, none to three milliseconds apart.',
      async *run({ text, signal }) {
        for (let index = 0; index < Number(text) && !signal.aborted; index++) {
          yield fragment(index)
          await new Promise((resolve) => setTimeout(resolve, index % 4))
        }
      },
    }),
    kilobytes: agent({
      description: 'As many fragments of 1,000 characters as the text says.',
      async *run({ text, signal }) {
        for (let index = 0; index < Number(text) && !signal.aborted; index++) {
          yield 'x'.repeat(1000)
          if (index % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
        }
      },
    }),
    asking: agent({
      description: 'Asks once, and says the answer.',
      async *run({ text, resumed }) {
        if (resumed === undefined) yield { type: 'input_required', call_id: 'may', prompt: text }
        else yield String(resumed.input)
      },
    }),
    stubborn: agent({
      description: 'Takes a minute and does not listen to its signal.',
      async *run() {
        yield 'begun'
        await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
      },
    }),
  },
})

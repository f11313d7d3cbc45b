import { agent, defineConfig } from 'agentserve'
import { fragment } from './fragment.ts'

/* What the benchmark of the studio looks at. */

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
    paced: agent({
      description:
        'A hundred fragments a second for as many seconds as the text says; each is the time when it was said.',
      async *run({ text, signal }) {
        const begun = performance.now()
        for (let index = 0; index < Number(text) * 100 && !signal.aborted; index++) {
          const wait = begun + index * 10 - performance.now()
          if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
          yield `${(performance.timeOrigin + performance.now()).toFixed(1)} `
        }
      },
    }),
  },
})

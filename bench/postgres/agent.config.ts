import { agent, defineConfig } from 'agentserve'
import shared from '../agent.config.ts'

/* The agents of the benchmark on Postgres, whose address is in AGENTSERVE_DATABASE_URL. */

export default defineConfig({
  agents: {
    ...shared.agents,
    waiting: agent({
      description: 'Begins, and waits until it is cancelled.',
      async *run({ signal }) {
        yield 'begun'
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      },
    }),
    stamped: agent({
      description:
        'As many fragments as the text says first, so many milliseconds apart as it says then: each is its time.',
      async *run({ text, signal }) {
        const [count = 0, pauseMs = 0] = text.split(' ').map(Number)
        for (let index = 0; index < count && !signal.aborted; index++) {
          await new Promise((resolve) => setTimeout(resolve, pauseMs))
          yield `${process.hrtime.bigint()} `
        }
      },
    }),
  },
  server: { storage: { type: 'postgres' } },
})

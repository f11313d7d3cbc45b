import { agent, defineConfig } from 'agentserve'
import shared from '../agent.config.ts'

/* The agents of the benchmark on Postgres, whose address is in AGENTSERVE_DATABASE_URL. */

/** 1,000 characters of words that are never the same, so that little can be packed away. */
function prose(): string {
  let text = ''
  while (text.length < 1_000) text += `${Math.random().toString(36).slice(2, 9)} `
  return text.slice(0, 1_000)
}

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
    prose: agent({
      description: 'As many fragments of 1,000 characters as the text says, all different.',
      async *run({ text }) {
        for (let index = 0; index < Number(text); index++) {
          yield prose()
          if (index % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
        }
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
  // More than ten thousand streams are measured on one server.
  server: { storage: { type: 'postgres' }, limits: { connections: 20_000 } },
})

/**
 * The configuration of all instances. The agents write into the file of EFFECTS when they begin and end, with the clock of
 * the machine, which is the same in all processes: what was executed is known without asking the server.
 */
export const agentsFile = (schema: string) => `
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { agent, defineConfig, team, tool, workflow } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'

const { EFFECTS, LISTEN_URL } = process.env
function note(what, { runId, sessionId }, about) {
  if (EFFECTS === undefined) return
  appendFileSync(EFFECTS, [process.hrtime.bigint(), what, runId, sessionId, JSON.stringify(about ?? '')].join(' ') + '\\n')
}

const hasResult = (prompt) => prompt.at(-1)?.role === 'tool'
const pay = tool({
  description: 'Pays.',
  inputSchema: z.object({ amount: z.number() }),
  execute: ({ amount }) => 'paid ' + amount,
})

export default defineConfig({
  server: { storage: { type: 'postgres', schema: '${schema}', listenUrl: LISTEN_URL } },
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    /** "count ms name": so many fragments, so far apart. */
    ticking: agent({
      async *run(context) {
        const [count, ms, name] = context.text.split(' ')
        note('begin', context, name)
        for (let n = 0; n < Number(count); n++) {
          if (Number(ms) > 0) await pause(Number(ms), undefined, { signal: context.signal })
          yield 'fragment ' + n + '. '
        }
        note('end', context, name)
      },
    }),
    recall: agent({
      async *run({ history, state }) { yield (await history(1000)).length + ' ' + JSON.stringify(state) },
    }),
    careful: agent({
      model: scriptedModel(({ prompt }) =>
        hasResult(prompt) ? 'It is paid.' : { tool_calls: [{ name: 'pay', input: { amount: 7 } }] }),
      tools: { pay },
      toolApproval: { pay: 'user-approval' },
    }),
  },
  teams: { pair: team({ members: ['ticking', 'echo'] }) },
  workflows: {
    /** Two steps with an approval between them; the text names it, and may say for how long a step takes. */
    order: workflow({
      async run(context) {
        const { step, approve, text } = context
        const [name, ms = '0'] = text.split(' ')
        const first = await step('first', async ({ signal }) => {
          note('step', context, name + ' first')
          await pause(Number(ms), undefined, { signal })
          return 'first of ' + name
        })
        await approve('go', { first })
        return step('second', async ({ signal }) => {
          note('step', context, name + ' second')
          await pause(Number(ms), undefined, { signal })
          return first + ', second of ' + name
        })
      },
    }),
  },
})
`

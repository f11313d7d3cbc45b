import { z } from 'zod'
import type { ServerConfig } from '../../../src/config/types.ts'
import type { RunEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { tool } from '../../../src/runnables/tools/tool.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { parseEvents, serveAgents } from '../../runnables/agent-server.ts'

type Serving = Awaited<ReturnType<typeof serveAgents>>

/** A model that calls `calendar`, then `refund`, then answers; what it says depends on its prompt only. */
export function officeModel() {
  return scriptedModel((call) => {
    const results = call.prompt.filter(({ role }) => role === 'tool').length
    if (results === 0) {
      return {
        text: 'Let me look. ',
        reasoning: 'first',
        tool_calls: [{ name: 'calendar', input: { day: 'mon' }, call_id: 'c1' }],
      }
    }
    if (results === 1) return { tool_calls: [{ name: 'refund', input: { amount: 5 }, call_id: 'c2' }] }
    const system = call.prompt.find(({ role }) => role === 'system')?.content
    return { text: `Done by ${String(system)} after ${JSON.stringify(call.prompt.at(-1)?.content.at(-1))}` }
  })
}

/** An agent with a retrieval, three model calls and two tools that count. */
export function office() {
  const made: string[] = []
  const model = officeModel()
  const calendar = tool({
    description: 'Opening hours.',
    inputSchema: z.object({ day: z.string() }),
    execute: async ({ day }) => {
      made.push(`calendar ${day}`)
      return { open: '09:00' }
    },
  })
  const refund = tool({
    description: 'Refunds.',
    inputSchema: z.object({ amount: z.number() }),
    execute: async ({ amount }) => {
      made.push(`refund ${amount}`)
      return `refunded ${amount}`
    },
  })
  const entity = agent({ model, instructions: 'the clerk', knowledge: true, tools: { calendar, refund } })
  return { entity, model, made }
}

export async function serveAgain(entities: Record<string, object>, config: ServerConfig = {}) {
  const server = await serveAgents(entities, { studio: { again: true }, ...config })
  const run = async (runId: string) => (await server.call('GET', `/api/v1/runs/${runId}`)).json

  async function again(runId: string | undefined, body: object = {}, headers?: Record<string, string>) {
    const answer = await server.call('POST', `/api/v1/runs/${runId}/again`, body, headers)
    const runs: { run_id: string; session_id: string }[] = answer.json?.runs ?? []
    return { ...answer, runs, id: runs[0]?.run_id ?? '' }
  }

  /** The events up to the end or the next pause, and the run as it is then. */
  async function ended(runId: string) {
    const events = await server.events(runId)
    return { events, run: await run(runId) }
  }

  const resume = (runId: string, body: object) =>
    server.call('POST', `/api/v1/runs/${runId}/resume`, { ...body, stream: false, background: false })
  return { ...server, run, again, ended, resume, [Symbol.asyncDispose]: () => server.close() } as Serving & {
    run: typeof run
    again: typeof again
    ended: typeof ended
    resume: typeof resume
  }
}

/** Without what every run has of its own. */
export function bodiesOf(events: readonly RunEvent[]) {
  return events
    .filter(({ type }) => !['run_start', 'run_end', 'run_error'].includes(type))
    .map(({ run_id: _run, seq: _seq, at: _at, ...body }) => body)
}

/** The same as a run that repeats it has them: it used nothing for them. */
export function takenOver(events: readonly RunEvent[]) {
  return bodiesOf(events).map((event) => {
    if (event.type === 'model_call_end') return { ...event, usage: null, cost: null, repeated: true }
    if (event.type !== 'step_end') return event
    const { usage: _usage, usage_by_model: _byModel, ...step } = event
    return step
  })
}

export { parseEvents }

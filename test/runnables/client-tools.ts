import { onTestFinished } from 'vitest'
import type { ScriptedAnswer, ScriptedModel } from '../../src/testing/scripted-model.ts'
import { eventsOf, serveAgents } from './agent-server.ts'

export const pick = {
  name: 'pick',
  description: 'Lets the user pick a color.',
  parameters: { type: 'object', properties: { of: { type: 'array', items: { type: 'string' } } } },
}
const client_tools = [pick]

/** One call of each of these tools. */
export function calls(...names: string[]): ScriptedAnswer {
  return { tool_calls: names.map((name) => ({ name, input: { city: 'Bern', of: ['red'] }, call_id: `use-${name}` })) }
}

/** An agent that is run with the client tool `pick`. */
export async function serveClientTools(main: object, config = {}) {
  const server = await serveAgents({ main }, config)
  onTestFinished(() => server.close())
  const ask = async (more: object = {}) => (await server.ask('main', 'Hi', { client_tools, ...more })).json
  const resume = async (run: { run_id: string }, answers: object) =>
    (await server.call('POST', `/api/v1/runs/${run.run_id}/resume`, { answers })).json
  const pick = (run: { run_id: string }, output: unknown = 'red') => resume(run, { 'use-pick': { output } })
  const waiting = async (run: { run_id: string }) => {
    const events = await server.events(run.run_id)
    const since = events.findLastIndex(({ type }) => type === 'run_resumed')
    return eventsOf(events.slice(since + 1), 'input_required').map(({ call_id, kind }) => `${kind} ${call_id}`)
  }
  return { ...server, ask, resume, pick, waiting }
}

/** The results that the model got with its latest call, by call id. */
export function told(model: ScriptedModel) {
  const results = (model.calls.at(-1)?.prompt ?? []).flatMap((message) =>
    message.role === 'tool' ? message.content : [],
  )
  return Object.fromEntries(
    results.map((part) => (part.type === 'tool-result' ? [part.toolCallId, part.output] : [part.type, part])),
  )
}

import type { RunStatus } from '../src/core/run.ts'
import type { SessionStore } from '../src/core/store.ts'
import { at, endOf, startOf } from '../test/contract/session-store/builders.ts'

const atOnce = 500
const usage = { input_tokens: 900, output_tokens: 80, total_tokens: 980, cached_input_tokens: 512 }
/** Of each thousand sessions, the status of the last turn; the others are completed. */
const shares: [status: Exclude<RunStatus, 'queued' | 'running'>, sessions: number][] = [
  ['failed', 200],
  ['cancelled', 40],
  ['input_required', 1],
]

/** One to three turns each, through the store's own writes, one session changed a second after the other: the last is the newest. */
export async function fillSessions(
  into: SessionStore,
  count: number,
  timeOf: (n: number) => string = at,
): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    const turns = (n: number) => 1 + (n % 3)
    for (let turn = 0; turn < 3; turn++) {
      const sessions = Array.from({ length: Math.min(atOnce, count - from) }, (_, n) => from + n)
      await Promise.all(
        sessions
          .filter((n) => turn < turns(n))
          .map((n) => say(into, n, timeOf(n), turn === turns(n) - 1 ? lastOf(n) : 'completed')),
      )
    }
  }
}

function lastOf(n: number): (typeof shares)[number][0] | 'completed' {
  // Spread over the list, not in runs of their own.
  let place = (n * 7_919) % 1_000
  for (const [status, sessions] of shares) {
    if (place < sessions) return status
    place -= sessions
  }
  return 'completed'
}

async function say(into: SessionStore, n: number, time: string, status: ReturnType<typeof lastOf>): Promise<void> {
  const session_id = `ses-${n}`
  const owners = { agent_id: `agent-${n % 20}`, user_id: n % 5 === 0 ? 'busy' : `user-${n % 1_000}` }
  const start = startOf({
    run: { session_id, created_at: time },
    text: `What about number ${n}? ${'words '.repeat(50)}`,
  })
  const session = start.session && { ...start.session, ...owners }
  const runId = start.run.run_id
  await into.startRun({ ...start, session })
  const answer = { ...start.message, message_id: `${runId}-a`, role: 'assistant' as const, content: 'x' }
  const usage_by_model = [{ model: 'a-model', ...usage, largest_input_tokens: 900 }]
  await into.finishRun(endOf(runId, { status, completed_at: time, messages: [answer], usage, usage_by_model }))
}

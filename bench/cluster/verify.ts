import type { Instance } from '../../test/support/cluster/instances.ts'
import { ask, readFrames } from '../../test/support/cluster/requests.ts'
import type { Told, ToldRun } from './told.ts'

/** Requests at once. */
const atOnce = 12
/** What may have cancelled a run, by the kind of client. The clients of all other runs never ask for that. */
const reasons: Record<string, readonly string[]> = {
  cancel: ['requested', 'shutdown'],
  interrupt: ['superseded', 'shutdown'],
}

/** Holds everything that clients were told against what is recorded, on all instances in turns. */
export async function verify(told: Told, instances: readonly Instance[]): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  const waiting = [...told.runs.values()].filter(({ runId }) => runId !== undefined)
  let next = 0
  const worker = async () => {
    for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
      const { url } = instances[next++ % instances.length] as Instance
      const end = await verifyRun(told, url, run)
      ends.set(end, (ends.get(end) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  for (const [id, { kept, maybe }] of told.states) {
    const { url } = instances[next++ % instances.length] as Instance
    const { body } = await ask(url, `/sessions/${id}`)
    const n = body?.state?.n
    if (n !== kept && n !== maybe) told.wrong(`${id} has the state ${n}, but its client was told ${kept}`)
  }
  for (const path of told.deleted) {
    const { status } = await ask((instances[next++ % instances.length] as Instance).url, path)
    if (status !== 404) told.wrong(`${path} was deleted, and is ${status}`)
  }
  for (const [path, content] of told.files) {
    const { status, body } = await ask((instances[next++ % instances.length] as Instance).url, path)
    if (body !== content) told.wrong(`${path} has another content, or none (${status})`)
  }
  await verifyHistories(told, instances)
  return ends
}

async function verifyRun(told: Told, url: string, run: ToldRun): Promise<string> {
  const say = (what: string) => told.wrong(`${run.name} (${run.runId}): ${what}`)
  const { status, body } = await ask(url, `/runs/${run.runId}`)
  if (status !== 200) {
    say(`acknowledged, but the record is ${status}`)
    return 'lost'
  }
  if (run.end !== undefined && body.status !== run.end)
    say(`its client was told ${run.end}, the record says ${body.status}`)
  if (run.content !== undefined && body.content !== run.content)
    say('its client got another answer than the recorded one')
  const allowed = reasons[/^[a-z]+/i.exec(run.name)?.[0] ?? ''] ?? ['shutdown']
  const reason = body.cancellation_reason
  if (body.status === 'cancelled' && !allowed.includes(reason)) say(`it was cancelled, as ${reason}`)
  if (body.status === 'failed' && !(body.error?.code === 'storage_full' && told.mayLackSpace(run)))
    say(`it failed: ${JSON.stringify(body.error)}`)
  verifyFrames(run, await readFrames(url, run.runId ?? ''), body.truncated === true, say)
  return body.status
}

/** Numbers without a gap, but for the end of what was taken over; and what the client has seen, unless that was cut short. */
export function verifyFrames(
  run: Pick<ToldRun, 'frames'>,
  frames: readonly string[],
  truncated: boolean,
  say: (what: string) => void,
): void {
  const recorded = new Map(frames.map((frame) => [Number(/^id: (\d+)$/m.exec(frame)?.[1]), frame]))
  const numbers = [...recorded.keys()]
  if (recorded.size !== frames.length) say('the record has a number twice')
  for (const [place, seq] of numbers.entries()) {
    const before = numbers[place - 1] ?? 0
    const mayJump = /^event: run_(end|error|resumed)$/m.test(recorded.get(seq) ?? '')
    if (seq <= before || (seq > before + 1 && !mayJump)) say(`the record has event ${seq} after ${before}`)
  }
  const lastText = numbers.findLast((seq) => /^event: text_delta$/m.test(recorded.get(seq) ?? '')) ?? 0
  for (const [seq, frame] of run.frames) {
    const kept = recorded.get(seq)
    if (kept === frame) continue
    if (kept !== undefined) say(`event ${seq} was sent otherwise than it is recorded: ${frame}, ${kept}`)
    else if (!truncated) say(`event ${seq} was sent and is not recorded, though nothing is said to be cut`)
    else if (seq <= lastText) say(`event ${seq} is missing in the middle of the record`)
  }
}

/** Each run is in the history of its session once. */
async function verifyHistories(told: Told, instances: readonly Instance[]): Promise<void> {
  const bySession = Map.groupBy(told.runs.values(), ({ sessionId }) => sessionId)
  let next = 0
  for (const [sessionId, runs] of bySession) {
    if (sessionId === undefined || !/^(queue|reject|interrupt)-\d+$/.test(sessionId)) continue
    const { url } = instances[next++ % instances.length] as Instance
    const found: string[] = []
    let before: string | undefined
    do {
      const query = `num_messages=1000${before === undefined ? '' : `&before=${before}`}`
      const { body } = await ask(url, `/sessions/${sessionId}/history?${query}`)
      const messages = body.messages as { role: string; run_id: string }[]
      found.unshift(...messages.flatMap(({ role, run_id: id }) => (role === 'user' ? id : [])))
      before = body.has_more ? found[0] : undefined
    } while (before !== undefined)
    const counts = Map.groupBy(found, (id) => id)
    for (const { name, runId, end } of runs) {
      const count = counts.get(runId ?? '')?.length ?? 0
      if (count > 1 || (count === 0 && end === 'completed'))
        told.wrong(`${name} (${runId}) is in its history ${count} times`)
    }
  }
}

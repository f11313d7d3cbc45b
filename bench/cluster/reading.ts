import { setTimeout as sleep } from 'node:timers/promises'
import type { Balanced } from './balanced.ts'
import type { ToldRun } from './told.ts'

/** A heartbeat comes every 15 s. */
const silenceMs = 20_000
const patienceMs = 75_000
/** How often a client leaves by itself, of the chunks that come, and goes on elsewhere. */
const leaving = 0.05

const fieldOf = (frame: string, name: string) =>
  frame
    .split('\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2)

/** Reads the events of a run to its end, and goes on elsewhere whenever that stops. */
export async function readOn(client: Balanced, run: ToldRun, first?: Response): Promise<void> {
  const fromMs = performance.now()
  let answer = first
  while (!client.told.over && performance.now() - fromMs < patienceMs) {
    try {
      answer ??= await reconnect(client, run)
      if (answer !== undefined && (await take(client, run, answer))) return
    } catch {
      // The connection failed, or was silent: what has come has come.
    }
    answer = undefined
    await sleep(100)
  }
  client.told.wrong(`the events of ${run.name} (${run.runId}) did not end in ${patienceMs / 1_000} s`)
}

async function reconnect(client: Balanced, run: ToldRun): Promise<Response | undefined> {
  client.told.reconnections++
  const fromMs = performance.now()
  const last = Math.max(0, ...run.frames.keys())
  const answer = await fetch(`${client.url}/api/v1/runs/${run.runId}/events`, {
    headers: { 'Last-Event-ID': `${last}` },
    signal: AbortSignal.timeout(patienceMs),
  })
  client.told.count(`events: ${answer.status}`)
  if (answer.status === 200) return answer
  await answer.arrayBuffer()
  // A database without space refuses new connections too, also for reads.
  const isFull = answer.status === 507 && client.told.troubles.isDiskFull(fromMs, performance.now())
  // Late: the process was stopped between the connection and the request.
  if (answer.status !== 503 && answer.status !== 408 && !isFull)
    client.told.wrong(`the events of ${run.name} (${run.runId}) are ${answer.status}`)
  return undefined
}

/** Whether the last event came. */
async function take(client: Balanced, run: ToldRun, answer: Response): Promise<boolean> {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), silenceMs)
      if (done) return false
      rest += decoder.decode(value, { stream: true })
      const frames = rest.split('\n\n')
      rest = frames.pop() ?? ''
      for (const frame of frames) if (takeFrame(client, run, frame)) return true
      if (client.random() < leaving) return false
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/** Whether it is the last one. */
function takeFrame({ told }: Balanced, run: ToldRun, frame: string): boolean {
  const id = fieldOf(frame, 'id')
  const type = fieldOf(frame, 'event')
  const data = fieldOf(frame, 'data')
  if (id === undefined || data === undefined) {
    // What is no event of the record: a heartbeat, or the word that the stream goes on elsewhere.
    return false
  }
  const seq = Number(id)
  const last = Math.max(0, ...run.frames.keys())
  if (seq <= last) told.wrong(`${run.name} (${run.runId}) got event ${seq} after ${last}`)
  const isEnd = type === 'run_end' || type === 'run_error'
  if (seq > last + 1 && !isEnd) told.wrong(`${run.name} (${run.runId}) got event ${seq} after ${last}, with a gap`)
  run.frames.set(seq, frame)
  if (!isEnd) return false
  const event = JSON.parse(data) as { status?: string; error?: { code: string } }
  told.ended(run, event.status ?? 'failed')
  return true
}

async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('silent')), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

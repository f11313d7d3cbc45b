import type { Client } from '../../../client/client.ts'
import { isAppError } from '../../../core/error.ts'
import { isFinalEvent } from '../../../core/event.ts'
import { isEnded, type Run } from '../../../core/run.ts'
import { pause } from '../../../runtime/abort.ts'
import { createRunWriter, followReconnects } from '../../runs/writer.ts'
import { saidIn } from '../../terminal/message-text.ts'
import { say, write } from '../../terminal/output.ts'
import { terminalJson, terminalLine, terminalText } from '../../terminal/text.ts'
import { shownTime } from '../../terminal/when.ts'
import { oneSession, type SessionsAction } from './action.ts'

const everyMs = 500
const pageLimit = 20
const patienceMs = 30_000

/** Follows a session's runs from now on, until Ctrl-C. */
export const tailSession: SessionsAction = async ({ withClient, args, json, signal }) => {
  const sessionId = oneSession('tail', args)
  return withClient(async (client) => {
    const follow = (run: Run, after: number) => followRun(client, run, { after, json, signal })
    /** Last event by run, newest last; runs that may continue are followed again. */
    const left = new Map<string, number>()
    let newest: Run[] = await client.sessions.runs(sessionId, {}, { limit: pageLimit, signal }).then(({ runs }) => runs)
    for (const run of newest) if (isEnded(run.status)) left.set(run.run_id, Number.MAX_SAFE_INTEGER)
    if (!json) say(`Following ${terminalLine(sessionId)} … (Ctrl-C stops)`)
    for (;;) {
      for (const run of newest.toReversed()) {
        const after = left.get(run.run_id) ?? 0
        if (run.parent_run_id !== null || (isEnded(run.status) && left.has(run.run_id))) continue
        left.set(run.run_id, await follow(run, after === Number.MAX_SAFE_INTEGER ? 0 : after))
      }
      await pause(everyMs, signal)
      newest = await patiently(() => newRuns(client, sessionId, left, signal), signal)
    }
  })
}

/** The newest runs, page by page until a known one. */
async function newRuns(client: Client, sessionId: string, known: ReadonlyMap<string, number>, signal: AbortSignal) {
  const runs: Run[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await client.sessions.runs(sessionId, {}, { limit: pageLimit, cursor, signal })
    runs.push(...page.runs)
    if (page.next_cursor === null || page.runs.some(({ run_id: id }) => known.has(id))) return runs
    cursor = page.next_cursor
  }
}

interface Following {
  after: number
  json: boolean
  signal: AbortSignal
}

/** Resolves at the run's end or pause with the number of its last event. */
async function followRun(client: Client, run: Run, { after, json, signal }: Following): Promise<number> {
  const writer = createRunWriter()
  let seq = after
  if (!json) await write(`${run.run_id}  ${terminalLine(run.entity_id)}  ${shownTime(run.created_at)}\n`)
  if (!json && after === 0) await write(await inputOf(client, run, signal))
  for await (const event of await client.runs.events(run.run_id, { after, signal, reconnects: followReconnects })) {
    seq = event.seq
    await write(json ? `${terminalJson(event)}\n` : writer.toText(event))
    if (isFinalEvent(event) && !json) await write('\n')
  }
  return seq
}

async function inputOf(client: Client, { run_id: id }: Run, signal: AbortSignal): Promise<string> {
  const { messages } = await client.runs.get(id, { signal })
  const input = saidIn(messages.find(({ role }) => role === 'user')?.parts ?? [])
  return `${terminalText(input).replace(/^/gm, '> ')}\n`
}

async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const until = Date.now() + patienceMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!isAppError(error) || error.code !== 'unavailable' || Date.now() > until) throw error
    }
    await pause(everyMs, signal)
  }
}

import { isFinalEvent } from '../core/event.ts'
import { pause } from '../runtime/abort.ts'
import type { LiveEvent } from '../wire/live.ts'
import type { CallOptions, Connection } from './transport/connection.ts'
import { isPassing } from './transport/retry.ts'
import { defaultReconnects, readEvents, reconnectWaitMs } from './transport/stream.ts'

export interface LiveOptions extends CallOptions {
  /** Runs whose events come too: their ids, or for each the number of the last event that is known. */
  follow?: readonly string[] | Readonly<Record<string, number>> | undefined
  /** Sessions: the events of each run that begins in them, or is under way, come too, after the run itself. */
  followSessions?: readonly string[] | undefined
  /** Also the events of their child runs. */
  children?: boolean | undefined
  /** Include the exact prompts of model calls. */
  includePrompts?: boolean | undefined
  /** The id of an earlier stream's last event, to go on from there. */
  lastEventId?: string | undefined
  /** Maximum number of reconnects in a row after the stream was cut. Default: 5. */
  reconnects?: number | undefined
}

export interface LiveStream extends AsyncIterable<LiveEvent> {
  /** The id of the last event that was read. */
  readonly lastEventId: string | undefined
}

/** How far a followed run has been read. */
interface Place {
  seq: number
  isOver: boolean
}

const maxFollowed = 200
/** Runs that are known at the same time; those that are over are forgotten first. */
const maxKnown = 1_000

/** What one connection of a live stream is asked for. */
export interface LiveRequest extends Omit<LiveOptions, 'follow' | 'reconnects'> {
  /** For each run the number of the last event that is known. */
  follow: Readonly<Record<string, number>>
}

/** The events of one connection with their ids, until it is cut, also repeats of those that were asked for. */
export async function* readLive(
  connection: Connection,
  prefix: string,
  { follow, followSessions, children, includePrompts, lastEventId, ...options }: LiveRequest,
): AsyncGenerator<{ event: LiveEvent; id: string | undefined }> {
  const places = Object.entries(follow).map((place) => place.join(':'))
  const answer = await connection.open({
    ...options,
    method: 'GET',
    path: `${prefix}/live`,
    query: {
      follow: places.join() || undefined,
      follow_sessions: followSessions?.join() || undefined,
      children,
      include: includePrompts ? 'prompts' : undefined,
    },
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
    repeat: 'safe',
  })
  yield* readEvents<LiveEvent>(answer, connection)
}

export function openLive(connection: Connection, prefix: string, options: LiveOptions = {}): LiveStream {
  const { reconnects = defaultReconnects, signal } = options
  const places = new Map<string, Place>()
  for (const [runId, seq] of placesOf(options.follow)) places.set(runId, { seq, isOver: false })
  let { lastEventId } = options

  async function* read(): AsyncGenerator<LiveEvent, void, void> {
    for (let failures = 0; ; failures++) {
      const stream = readLive(connection, prefix, { ...options, follow: toFollow(places), lastEventId })
      try {
        for await (const { event, id } of stream) {
          lastEventId = id || lastEventId
          // An event of a run that came before.
          if (event.type === 'run_event' && !isNew(places, event.event)) continue
          failures = 0
          yield event
        }
      } catch (error) {
        signal?.throwIfAborted()
        if (!isPassing(error) || failures >= reconnects || connection.isClosed) throw error
      }
      await pause(reconnectWaitMs(failures), signal)
    }
  }

  return {
    [Symbol.asyncIterator]: () => read(),
    get lastEventId() {
      return lastEventId
    },
  }
}

function placesOf(follow: LiveOptions['follow'] = []): (readonly [runId: string, seq: number])[] {
  return 'length' in follow ? (follow as readonly string[]).map((id) => [id, 0] as const) : Object.entries(follow)
}

function isNew(places: Map<string, Place>, event: Extract<LiveEvent, { type: 'run_event' }>['event']): boolean {
  const place = places.get(event.run_id) ?? { seq: 0, isOver: false }
  // Partial data has the number of the event before it.
  if (event.type === 'data_delta' ? event.seq < place.seq : event.seq <= place.seq) return false
  if (places.size >= maxKnown && !places.has(event.run_id)) forgetOne(places)
  places.set(event.run_id, { seq: event.seq, isOver: isFinalEvent(event) })
  return true
}

/** The oldest that is over: a server does not send it again, unless it was resumed. */
function forgetOne(places: Map<string, Place>): void {
  for (const [runId, { isOver }] of places) {
    if (!isOver) continue
    places.delete(runId)
    return
  }
}

/** The runs that go on come first: a server takes a limited number, and repeats of others are left out here. */
function toFollow(places: ReadonlyMap<string, Place>): Record<string, number> {
  const ordered = [...places].sort(([, one], [, other]) => Number(one.isOver) - Number(other.isOver))
  return Object.fromEntries(ordered.slice(0, maxFollowed).map(([runId, { seq }]) => [runId, seq]))
}

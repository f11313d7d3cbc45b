import { AppError } from '../../core/error.ts'
import type { Clock, Timer, Timers } from '../../core/time.ts'
import { Throttle } from '../../runtime/throttle.ts'
import type { Runs } from '../services.ts'
import type { ChangeListener, Changes } from './changes.ts'
import type { Follow } from './following.ts'
import { type LiveHeads, shareHeads } from './heads.ts'
import type { AgentsLoaded } from './items.ts'
import { Pace } from './pace.ts'
import { type LiveAudience, LiveReader, tooManyStreams } from './reader.ts'
import { type Change, ChangeRing } from './ring.ts'

const ringSize = 1_000
const streamsPerCaller = 5
const knowledgeMs = 500
/** How long changes are noted without a reader, so that one that comes back misses none. */
const lingerMs = 30_000

export interface LiveOptions {
  /** Of this process. */
  serverId: string
  changes: Changes
  heads: LiveHeads
  runs: Pick<Runs, 'events' | 'withPrompts'>
  timers: Timers
  clock: Clock
}

export interface OpenLive extends LiveAudience {
  /** Streams are counted by it. */
  caller: string
  /** The last event that the reader has had: `<server id>.<number>`. */
  after: string | undefined
  follow: Follow
  children: boolean
  prompts: boolean
}

export interface Live {
  readonly serverId: string
  /** Throws `rate_limited` when the caller has too many streams open. What changes from now on is told. */
  open(options: OpenLive): Promise<LiveReader>
  agentsLoaded(outcome: Omit<AgentsLoaded, 'version'>): void
  /** Of the last attempt to load them; the first is 1. */
  readonly agentsVersion: number
  knowledgeChanged(): void
  /** Ends all streams. */
  close(): void
}

/** Tells readers what changes. Without a reader it listens to nothing. */
export function createLive({ serverId, changes, heads, runs, timers, clock }: LiveOptions): Live {
  const ring = new ChangeRing(ringSize)
  const readers = new Map<LiveReader, string>()
  /** Those that follow a run or a session. */
  const followers = new Set<LiveReader>()
  const shared = shareHeads(heads)
  const changed = new Map<string, Omit<Change, 'n'>>()
  let listening: Promise<void> | undefined
  let timer: Timer | undefined
  let lingering: Timer | undefined
  const knowledge = new Throttle<object>(timers, knowledgeMs, () => note('knowledge', ''))
  const pace = new Pace(clock, () => {
    // The work took longer than was known when the timer was set.
    if (timer === undefined) return
    timers.clear(timer)
    timer = undefined
    schedule()
  })
  /** More has changed since the last tick than names are kept. */
  let isTooMuch = false
  let loaded: AgentsLoaded | undefined
  let closed = false

  function note(kind: Change['kind'], id: string, users?: readonly string[]): void {
    if (isTooMuch && !isOfServer(kind)) return
    const key = kind === 'lists' ? `${kind} ${id} ${users?.join(' ')}` : `${kind} ${id}`
    if (changed.has(key)) return
    changed.set(key, { kind, id, users })
    if (changed.size > ringSize) dropNames()
    schedule()
  }

  function dropNames(): void {
    isTooMuch = true
    for (const [key, { kind }] of changed) if (!isOfServer(kind)) changed.delete(key)
  }

  function schedule(): void {
    timer ??= timers.set(tick, pace.restMs)
  }

  function tick(): void {
    timer = undefined
    pace.step()
    shared.forget()
    if (isTooMuch) {
      isTooMuch = false
      ring.interrupt()
      for (const reader of readers.keys()) reader.reset('behind')
    }
    for (const change of changed.values()) {
      const numbered = ring.add(change)
      for (const reader of readers.keys()) reader.offer(numbered)
    }
    changed.clear()
    let isDue = false
    for (const reader of readers.keys()) {
      reader.tick()
      isDue ||= reader.isDue
    }
    if (isDue) schedule()
  }

  const listener: ChangeListener = {
    run(runId, going) {
      note('run', runId)
      if (going !== undefined) for (const reader of followers) reader.goesOn(runId, going.session_id)
    },
    session: (sessionId) => note('session', sessionId),
    runs: (sessionId) => note('runs', sessionId),
    turns: (runId) => note('turns', runId),
    deleted(sessionId, users) {
      changed.delete(`session ${sessionId}`)
      note('deleted', sessionId, users)
    },
    lists: (reason, users) => note('lists', reason, users),
  }

  function stop(): void {
    changes.stop()
    knowledge.stop()
    listening = undefined
    for (const one of [timer, lingering]) timers.clear(one)
    timer = undefined
    lingering = undefined
    isTooMuch = false
    changed.clear()
    shared.forget()
    ring.interrupt()
  }

  function left(reader: LiveReader): void {
    readers.delete(reader)
    followers.delete(reader)
    if (readers.size > 0 || closed) return
    lingering = timers.set(stop, lingerMs)
    lingering.unref()
  }

  /** What it has missed waits for it, or it is told that this can't be said. */
  function goOn(reader: LiveReader, after: string): void {
    const isOurs = after.startsWith(`${serverId}.`)
    const n = after.slice(serverId.length + 1)
    const missed = isOurs && /^\d{1,15}$/.test(n) ? ring.since(Number(n)) : undefined
    if (missed !== undefined) for (const change of missed) reader.offer(change)
    else reader.reset(isOurs ? 'missed' : 'restarted')
  }

  return {
    serverId,
    async open({ caller, after, follow, ...options }) {
      if (closed) throw new AppError('unavailable', 'The server is stopping.')
      const open = [...readers.values()].filter((other) => other === caller).length
      if (open >= streamsPerCaller) throw tooManyStreams(streamsPerCaller)
      timers.clear(lingering)
      lingering = undefined
      const reader = new LiveReader({
        ...options,
        // Whose a session is may have changed since another reader's read.
        heads: options.user === undefined ? shared : { ...shared, session: heads.session },
        stored: heads,
        runs,
        clock,
        pace,
        loaded: () => loaded,
        last: () => ring.last,
        onClose: left,
      })
      readers.set(reader, caller)
      if (follow.runs.size + follow.sessions.size > 0) followers.add(reader)
      listening ??= changes.listen(listener)
      try {
        await listening
      } catch (error) {
        listening = undefined
        reader.close()
        throw error
      }
      if (after !== undefined) goOn(reader, after)
      if (loaded !== undefined) reader.offer({ n: ring.last, kind: 'agents', id: '' })
      reader.begin(follow)
      if (reader.isDue) schedule()
      return reader
    },
    get agentsVersion() {
      return loaded?.version ?? 1
    },
    agentsLoaded(outcome) {
      loaded = { version: this.agentsVersion + 1, ...outcome }
      if (listening === undefined) return
      // At once: it needs no reading, and somebody has just saved a file.
      const change = ring.add({ kind: 'agents', id: '' })
      for (const reader of readers.keys()) {
        reader.offer(change)
        reader.tick()
      }
    },
    knowledgeChanged() {
      if (listening !== undefined) knowledge.offer({})
    },
    close() {
      closed = true
      for (const reader of [...readers.keys()]) reader.close()
      stop()
    },
  }
}

/** Changes of the server itself, which are few and in no list. */
function isOfServer(kind: Change['kind']): boolean {
  return kind === 'agents' || kind === 'knowledge'
}

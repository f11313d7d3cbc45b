import type { Recovered } from '../store.ts'

/* What several processes on one store need of each other. Each of them is an instance. */

export interface Instance {
  /** The id of the process in the store. The runs that it starts name it as their owner. */
  owner: string
  /** Where it listens, for people; null: nowhere. */
  address: string | null
  version: string
  /** The ids of its agents, teams and workflows. */
  entities: readonly string[]
  /** `guest`: a command. It takes over nothing and begins no run that waits for another instance. */
  role: 'server' | 'guest'
  /** Silence after which the others take it for dead, by their clocks. */
  deadAfterMs: number
}

/** Another instance that has neither left nor been declared dead. */
export interface Peer extends Omit<Instance, 'role'> {
  key: number
  /** Changes with each of its beats. Only that it changes means anything. */
  beat: string
  /** The newest step of the tables that its version knows. */
  knows: number
}

export interface Beat {
  /** This instance was declared dead: nothing that it writes under its owner can succeed any more. */
  lost: boolean
  /** Own runs that were asked to end, also when the wake-up was lost. */
  cancels: { run_id: string; reason: string }[]
  peers: Peer[]
  /** Keys of instances that are dead or have left, and still own runs in `running` or `queued`, or unfinished idempotency keys. */
  orphaned: number[]
  /** Of those that keep the store from removing dead rows; undefined: the store knows no such thing. */
  oldestTransactionSeconds?: number
}

/** A hint that may be lost, doubled or early; nothing rests on it. */
export type Wake =
  /** A followed run has recorded more events, or has ended. */
  | { kind: 'events'; run_id: string }
  /** An instance follows an own run, told every second; no instance does any more. */
  | { kind: 'followed' | 'unfollowed'; run_id: string }
  /** An own waiting run may be the next of its session. */
  | { kind: 'turn'; run_id: string }
  /** An own run was asked to end. */
  | { kind: 'cancel'; run_id: string; reason: string }
  /** An instance has left and may have left runs to take over. */
  | { kind: 'left'; key: number }
  /** Wake-ups may have been lost since the last one: everything that waits for one should look. */
  | { kind: 'missed' }

/** What another instance has changed, as in service/live/changes.ts. `missed`: changes that nobody can name. */
export type StoreChange =
  | { kind: 'run'; id: string; going?: { session_id?: string } | undefined }
  | { kind: 'session' | 'runs' | 'turns'; id: string }
  | { kind: 'deleted'; id: string; users: readonly string[] }
  | { kind: 'lists'; id: 'pruned' | 'erased' | 'shared'; users?: readonly string[] | undefined }
  | { kind: 'missed' }

/** The part of a store that several processes write to. */
export interface StoreCluster {
  /** Call it once after `open`, and again after a lost beat, under a new owner. Gives the instances that are there. */
  join(self: Instance): Promise<Peer[]>
  /** Says that this instance is alive. Call it every few seconds; it fails rather than wait for long. */
  beat(): Promise<Beat>
  /** False: it has had another beat since, or somebody was faster. */
  declareDead(peer: number, beat: string): Promise<boolean>
  /**
   * Takes over at most `limit` runs of an instance that is dead or has left, oldest first, under new fences. Running ones and
   * waiting foreground ones come back `interrupted`, their end recorded; waiting background ones are this instance's from
   * now on. Releases its unfinished idempotency keys. Nothing in either list: no more are there.
   */
  takeOver(peer: number, at: string, limit: number): Promise<Recovered>
  /** The last write. What this instance still owns may be taken over at once. */
  leave(): Promise<void>
  /** Asks the owner of a run to end it. */
  requestCancel(runId: string, reason: string): Promise<'asked' | 'not_running'>
  /** Takes the place of the listener before. */
  onWake(listener: (wake: Wake) => void): void
  /** Asks the owner of a run for wake-ups until `unfollow`. Does nothing to a run that has ended. */
  follow(runId: string): void
  unfollow(runId: string): void
  /** Tells this listener what the other instances change. Resolves when all of them know of it, or after a second. */
  watch(listener: (change: StoreChange) => void): Promise<void>
  unwatch(): void
  /** Whether another instance watches. */
  readonly isWatched: boolean
  /** Tells the instances that watch. Call it after the change is durable. */
  publish(change: StoreChange): void
}

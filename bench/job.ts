import type { Ask } from './dialect.ts'

/** What the load process is told to do. */
export interface Job {
  url: string
  /** Each connection asks these and the first in turns. */
  others?: readonly string[]
  ask: Ask
  connections: number
  warmUpMs: number
  measureMs: number
  /** Each connection goes on with the session of its own name; without it every request has a new session. */
  sessions?: string | undefined
  /** Requests started in a second, as in the world, instead of each connection's next after its last. */
  ratePerSecond?: number | undefined
  /** Ends after so many requests a connection, whatever the time. */
  requestsPerConnection?: number | undefined
}

/** Sent when the warm-up is over, when the time is, and at the end. */
export type LoadMessage = { type: 'begun' } | { type: 'measured' } | { type: 'ended'; outcome: Outcome }

export interface Outcome {
  requests: number
  errors: number
  /** What the first wrong answer was. */
  firstError: string | undefined
  seconds: number
  p50Ms: number
  p99Ms: number
  /** To the first byte of the body, from when the request was due. */
  firstP50Ms: number
  firstP99Ms: number
}

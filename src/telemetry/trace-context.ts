import { createHash } from 'node:crypto'

/** Where a span stands, as the header `traceparent` of W3C Trace Context says it. */
export interface TraceContext {
  /** 32 hex digits. */
  traceId: string
  /** 16 hex digits. */
  spanId: string
  /** Whether the caller exports its spans of this trace. */
  isSampled: boolean
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const sampledFlag = 1

/** Undefined for anything but a valid header, which the specification wants ignored. */
export function parseTraceparent(header: unknown): TraceContext | undefined {
  const [, version = 'ff', traceId = '', spanId = '', flags = '', more] =
    typeof header === 'string' ? (form.exec(header.trim()) ?? []) : []
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 }
}

export function toTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** The trace of a run that came without one. Every process finds the same, also after a restart. */
export function traceIdOf(runId: string): string {
  return hashOf(runId).slice(0, 32)
}

/** The span of a run since its start or last resumption, whose first event has this number. */
export function spanIdOfRun(runId: string, firstSeq: number): string {
  return spanIdOf(runId, 'run', firstSeq)
}

/** The step that a child run belongs to. `outerFirstSeq`: of the run around it. */
export function spanIdOfChildStep(childRunId: string, outerFirstSeq: number): string {
  return spanIdOf(childRunId, 'step', outerFirstSeq)
}

export function spanIdOf(...about: (string | number)[]): string {
  return hashOf(about.join(' ')).slice(0, 16)
}

/** Never all zeros in practice, which would be no id. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

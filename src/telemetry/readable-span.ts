import { version } from '../core/version.ts'
import type { Attributes, SpanDraft } from './draft.ts'
import type { TraceContext } from './trace-context.ts'

/*
 * The parts of OpenTelemetry's interfaces that its exporters read. Spans are made from the record when their run has ended, so
 * they need no tracer, and the package is loaded only to send them.
 */

type Time = [seconds: number, nanoseconds: number]
interface SpanContext {
  traceId: string
  spanId: string
  traceFlags: number
  isRemote?: boolean
}

export interface Resource {
  readonly attributes: Attributes
  merge(other: Resource | null): Resource
  getRawAttributes(): [string, Attributes[string]][]
}

export interface ReadableSpan {
  readonly name: string
  /** INTERNAL is 0, CLIENT is 2. */
  readonly kind: number
  readonly spanContext: () => SpanContext
  readonly parentSpanContext?: SpanContext
  readonly startTime: Time
  readonly endTime: Time
  readonly duration: Time
  readonly ended: boolean
  /** UNSET is 0, ERROR is 2. */
  readonly status: { code: number; message?: string }
  readonly attributes: Attributes
  readonly links: { context: SpanContext }[]
  readonly events: []
  readonly resource: Resource
  readonly instrumentationScope: { name: string; version: string }
  readonly droppedAttributesCount: number
  readonly droppedEventsCount: number
  readonly droppedLinksCount: number
}

/** What sends spans: an exporter of OpenTelemetry's packages. */
export interface SpanExporter {
  /** Code 0 is success. */
  export(spans: ReadableSpan[], done: (result: { code: number; error?: Error }) => void): void
  shutdown(): Promise<void>
}

const sampled = 1

export function createResource(attributes: Attributes): Resource {
  return {
    attributes,
    merge: (other) => createResource({ ...attributes, ...other?.attributes }),
    getRawAttributes: () => Object.entries(attributes),
  }
}

/** `parent`: of the spans that name none; `isRemote`: it came with the request. */
export function toReadableSpan(
  draft: SpanDraft,
  traceId: string,
  parent: (Pick<TraceContext, 'spanId'> & { isRemote: boolean }) | undefined,
  resource: Resource,
): ReadableSpan {
  const { spanId, parentSpanId, name, kind, startMs, endMs, attributes, failure, links = [] } = draft
  const contextOf = (id: string): SpanContext => ({ traceId, spanId: id, traceFlags: sampled })
  const context = contextOf(spanId)
  const above = parentSpanId ?? parent?.spanId
  return {
    name,
    kind: kind === 'client' ? 2 : 0,
    spanContext: () => context,
    ...(above !== undefined && {
      parentSpanContext: { ...contextOf(above), isRemote: parentSpanId === undefined && parent?.isRemote === true },
    }),
    startTime: timeOf(startMs),
    endTime: timeOf(endMs),
    duration: timeOf(endMs - startMs),
    ended: true,
    status: failure === undefined ? { code: 0 } : { code: 2, ...(failure.message && { message: failure.message }) },
    attributes: failure === undefined ? attributes : { ...attributes, 'error.type': failure.type },
    links: links.map((id) => ({ context: contextOf(id) })),
    events: [],
    resource,
    instrumentationScope: { name: 'agentserve', version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function timeOf(ms: number): Time {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)]
}

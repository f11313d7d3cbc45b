export type AttributeValue = string | number | boolean | readonly string[]
export type Attributes = Record<string, AttributeValue>

/** A span as it is made from the record, before it has its trace. Times are milliseconds since 1970. */
export interface SpanDraft {
  spanId: string
  /** Within the same run; absent: the parent of the run's span. */
  parentSpanId?: string | undefined
  name: string
  kind: 'internal' | 'client'
  startMs: number
  endMs: number
  attributes: Attributes
  /** The span has failed. */
  failure?: { type: string; message?: string | undefined } | undefined
  /** Spans of the same trace that it continues. */
  links?: readonly string[] | undefined
}

/** Without the fields that are undefined. */
export function attributesOf(given: Record<string, AttributeValue | undefined>): Attributes {
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(given)) if (value !== undefined) attributes[name] = value
  return attributes
}

/** What spans say of contents. `messages`: what was asked, answered, and given to tools; `prompts`: whole prompts too. */
export type Capture = 'none' | 'messages' | 'prompts'

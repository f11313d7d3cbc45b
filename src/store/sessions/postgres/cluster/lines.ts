import type { StoreChange } from '../../../../core/cluster/cluster.ts'

/*
 * What instances tell each other by NOTIFY: lines of a letter and JSON, or of `e` and the id of a run. A payload has many, and
 * less than 8,000 bytes. Lines of other letters come from newer versions and are left out.
 */

export type Line =
  | { kind: 'events' | 'turn'; run_id: string }
  /** Some run of the receiver is to end. Which one is only believed of the database: anybody may notify. */
  | { kind: 'cancel' }
  | { kind: 'left' }
  /** Lines were dropped. */
  | { kind: 'missed' }
  /** The sender wants to know of these runs. */
  | { kind: 'follow'; run_ids: string[] }
  /** The sender is new. */
  | { kind: 'hello' }
  | { kind: 'watch' | 'watching' | 'unwatch' }
  | { kind: 'change'; change: StoreChange }
  /** To itself: it hears. */
  | { kind: 'echo'; count: number }

export interface Received {
  from: number
  line: Line
}

const letters = {
  events: 'e',
  turn: 't',
  cancel: 'c',
  left: 'l',
  missed: '*',
  follow: 'f',
  hello: 'h',
  watch: 'w',
  watching: 'W',
  unwatch: 'u',
  change: 'p',
  echo: 'o',
} as const satisfies Record<Line['kind'], string>

const kinds = new Map<string, Line['kind']>(
  Object.entries(letters).map(([kind, letter]) => [letter, kind as Line['kind']]),
)

const payloadBytes = 7_900
const plainId = /^[\w-]+$/

export function encodeLine(line: Line): string {
  const { kind, ...body } = line
  if (kind === 'events' && plainId.test(line.run_id)) return letters.events + line.run_id
  return Object.keys(body).length === 0 ? letters[kind] : `${letters[kind]}${JSON.stringify(body)}`
}

/** As few payloads as they fit in; undefined: a line fits into none, or there would be more than `most`. */
export function toPayloads(from: number, lines: Iterable<string>, most: number): string[] | undefined {
  const head = `${from}`
  const payloads: string[] = []
  let payload = head
  let bytes = head.length
  for (const line of lines) {
    const size = 1 + Buffer.byteLength(line)
    if (bytes + size > payloadBytes) {
      if (head.length + size > payloadBytes || payloads.length + 1 === most) return undefined
      payloads.push(payload)
      payload = head
      bytes = head.length
    }
    payload += `\n${line}`
    bytes += size
  }
  return [...payloads, payload]
}

const isText = (value: unknown) => typeof value === 'string'

/** What the body of a line must have. */
const bodies: Record<Line['kind'], Record<string, (value: unknown) => boolean>> = {
  events: { run_id: isText },
  turn: { run_id: isText },
  cancel: {},
  left: {},
  missed: {},
  follow: { run_ids: (value) => Array.isArray(value) && value.every(isText) },
  hello: {},
  watch: {},
  watching: {},
  unwatch: {},
  change: { change: (value) => typeof value === 'object' && value !== null },
  echo: { count: Number.isInteger },
}

/** Anybody may notify a channel: what has another form is left out. */
export function readPayload(payload: string): Received[] {
  const [head = '', ...lines] = payload.split('\n')
  const from = Number(head)
  if (!Number.isInteger(from)) return []
  return lines.flatMap((text) => {
    const line = readLine(text)
    return line === undefined ? [] : [{ from, line }]
  })
}

function readLine(text: string): Line | undefined {
  const kind = kinds.get(text.slice(0, 1))
  const rest = text.slice(1)
  if (kind === 'events' && plainId.test(rest)) return { kind, run_id: rest }
  const body = rest === '' ? {} : parse(rest)
  if (kind === undefined || body === undefined) return undefined
  const isWhole = Object.entries(bodies[kind]).every(([name, isRight]) => isRight(body[name]))
  return isWhole ? ({ kind, ...body } as Line) : undefined
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

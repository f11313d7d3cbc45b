import { gzipSync } from 'node:zlib'

/** A statement of a script, as the parser tells it. */
export interface Statement {
  type: string
  start: number
  end: number
}

/** So many characters that two texts have in common are worth a reference to the first. */
const shared = 4
/** A short text has nearly all in common with what is there: so many pieces more make the long ones come before it. */
const weight = 20
/** Gzip refers to what is at most 32 KB before. Looking twice as far gave the smallest files. */
const reach = 60_000

/**
 * The script with its functions in another order, each after those that it has most in common with, if that is smaller when it
 * is gzipped. A function can be called before the line that declares it, so the order means nothing to a program.
 */
export function withAlikeTogether(code: string, statements: readonly Statement[]): string {
  const textOf = ({ start, end }: Statement) => code.slice(start, end)
  const isFunction = ({ type }: Statement) => type === 'FunctionDeclaration'
  const isImport = ({ type }: Statement) => type === 'ImportDeclaration'
  const rest = statements.filter((one) => !isFunction(one) && !isImport(one))
  const functions = chained(statements.filter(isFunction).map(textOf)).join('')
  const ordered = [...statements.filter(isImport).map(textOf), functions, ...rest.map(textOf)].join('\n')
  return gzipSync(ordered).length < gzipSync(code).length ? ordered : code
}

function chained(texts: readonly string[]): string[] {
  const left = new Map(texts.map((text) => [text, piecesOf(text)]))
  /** How often each piece is within reach. */
  const near = new Map<string, number>()
  const chain: string[] = []
  let first = 0
  let length = 0
  while (left.size > 0) {
    const [text = ''] = best(left, near)
    count(near, left.get(text) ?? [], 1)
    left.delete(text)
    chain.push(text)
    length += text.length
    while (length > reach && first < chain.length - 1) {
      const far = chain[first++] ?? ''
      length -= far.length
      count(near, piecesOf(far), -1)
    }
  }
  return chain
}

/** The text of which the largest part is within reach. */
function best(left: ReadonlyMap<string, ReadonlySet<string>>, near: ReadonlyMap<string, number>): [string?] {
  let found: [string?] = []
  let most = -1
  for (const [text, pieces] of left) {
    let known = 0
    for (const piece of pieces) if (near.has(piece)) known++
    const part = known / (pieces.size + weight)
    if (part > most) [found, most] = [[text], part]
  }
  return found
}

function count(near: Map<string, number>, pieces: Iterable<string>, by: number): void {
  for (const piece of pieces) {
    const now = (near.get(piece) ?? 0) + by
    if (now > 0) near.set(piece, now)
    else near.delete(piece)
  }
}

function piecesOf(text: string): Set<string> {
  return new Set(Array.from({ length: text.length - shared + 1 }, (_, at) => text.slice(at, at + shared)))
}

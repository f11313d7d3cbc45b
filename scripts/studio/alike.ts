import { promisify } from 'node:util'
import { deflateRaw, gzipSync } from 'node:zlib'

const deflated = promisify(deflateRaw)

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
/** Of two functions: pieces of this length tell better which of them are alike. */
const sharedByTwo = 6
/** After how many functions that are like it each one is tried, alone and with those that follow it. More take long and gain little. */
const tries = 2
const runLengths = [1, 4]

/**
 * The script with its functions in another order, each after those that it has most in common with, if that is smaller when it
 * is gzipped. A function can be called before the line that declares it, so the order means nothing to a program.
 */
export async function withAlikeTogether(code: string, statements: readonly Statement[]): Promise<string> {
  const textOf = ({ start, end }: Statement) => code.slice(start, end)
  const isFunction = ({ type }: Statement) => type === 'FunctionDeclaration'
  const isImport = ({ type }: Statement) => type === 'ImportDeclaration'
  const lineOf = (one: Statement) => (isFunction(one) ? textOf(one) : `${textOf(one)}\n`)
  const imports = statements.filter(isImport).map(lineOf)
  const asTheyAre = statements.filter((one) => !isImport(one)).map(lineOf)
  const functions = statements.filter(isFunction).map(textOf)
  const rest = statements.filter((one) => !isFunction(one) && !isImport(one)).map(lineOf)
  const chain = [...chained(functions), ...rest]
  const isChainLess = (await packedLength(chain)) < (await packedLength(asTheyAre))
  const ordered = [...imports, ...(await improved(isChainLess ? chain : asTheyAre, functions))].join('')
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

/** The lines after moves that make them smaller when they are packed: of each function, and of it with those after it, behind one like it. */
async function improved(lines: readonly string[], functions: readonly string[]): Promise<readonly string[]> {
  const alike = closest(functions)
  let best = lines
  let least = await packedLength(best)
  for (let rank = 0; rank < tries; rank++) {
    for (const length of runLengths) {
      for (const text of functions) {
        const moved = [...best]
        const at = moved.indexOf(text)
        const isRun = moved.slice(at, at + length).every((line) => alike.has(line))
        const run = moved.splice(at, isRun ? length : 1)
        const before = moved.indexOf(alike.get(text)?.[rank] ?? '')
        if (before < 0) continue
        moved.splice(before + 1, 0, ...run)
        const size = await packedLength(moved)
        if (size <= least) [best, least] = [moved, size]
      }
    }
  }
  return best
}

async function packedLength(texts: readonly string[]): Promise<number> {
  return (await deflated(texts.join(''))).length
}

/** Of each text those that have most in common with it, the best one first. A long text has something in common with all. */
function closest(texts: readonly string[]): Map<string, string[]> {
  const all = texts.map((text) => ({ text, pieces: piecesOf(text, sharedByTwo) }))
  return new Map(
    all.map(({ text, pieces }) => {
      const others = all.filter((other) => other.text !== text)
      const ranked = others.map((other) => {
        const common = other.pieces.values().filter((piece) => pieces.has(piece))
        return { text: other.text, likeness: [...common].length / Math.sqrt(other.pieces.size + weight) }
      })
      ranked.sort((one, other) => other.likeness - one.likeness)
      return [text, ranked.slice(0, tries).map((other) => other.text)]
    }),
  )
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

function piecesOf(text: string, length = shared): Set<string> {
  return new Set(Array.from({ length: text.length - length + 1 }, (_, at) => text.slice(at, at + length)))
}

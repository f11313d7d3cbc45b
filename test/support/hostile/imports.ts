import fc from 'fast-check'

/*
 * Copies of a session that nobody exported: made from a whole one, with every line, field and byte open to change.
 */

export const copyMediaType = 'application/x-ndjson'
/** No import under this id is ever whole, so no session may have it. */
export const neverWhole = 'never-whole'

interface CopyNames {
  sessions: readonly string[]
  runs: readonly string[]
  users: readonly string[]
}

type Value = Record<string, unknown>

const oddBytes = ['\0', '\\u0000', '\\ud800', '\u2028', '\ufeff', '\r', '\n', '{', '"', '\\'].map((text) =>
  Buffer.from(text),
)
/** A lone surrogate, a byte that begins nothing, and an overlong slash, as UTF-8 would have them. */
const noText = ['eda080', 'ff', 'c0af'].map((bytes) => Buffer.from(bytes, 'hex'))
const depths = [63, 64, 65, 10_000]
const notLines = ['', '\n\n\n', ' ', 'null\n', '[]\n', '{}\n', '"session"\n', '{"type":"end","runs":0,"events":0}\n']

/** `copy` is what an export gave; `names` are of things that exist, and may grow. */
export function hostileImports(copy: string, names: CopyNames, anything: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> {
  const lines = copy
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Value)
  const places = lines.flatMap((line, index) => placesIn(line).map((place) => [index, ...place]))
  const text = textOf(lines)
  const [session = '', run = ''] = [/"session_id":"([^"]+)"/, /"run_id":"([^"]+)"/].map((name) => name.exec(text)?.[1])
  const known = (some: readonly string[]) => fc.nat().map((number) => some[number % Math.max(1, some.length)] ?? 'none')
  const takenSession = known(names.sessions).map((id) => (id === neverWhole ? 'none' : id))
  const fresh = fc.uuid()

  /** Sound in itself, with ids that are free, taken or somebody else's. */
  const named = fc
    .tuple(fc.oneof(fresh, takenSession), fc.oneof(fresh, known(names.runs)), known(names.users))
    .map(([sessionId, runId, user]) =>
      Buffer.from(
        text
          .replaceAll(`"${session}"`, JSON.stringify(sessionId))
          .replaceAll(`"${run}"`, JSON.stringify(runId))
          .replaceAll(/"user_id":"[^"]*"/g, `"user_id":${JSON.stringify(user)}`)
          .replaceAll('"user_ids":[]', `"user_ids":[${JSON.stringify(user)}]`),
      ),
    )
  const changed = fc
    .array(fc.tuple(fc.constantFrom(...places), fc.oneof(anything, known(names.users), known(names.runs))), {
      minLength: 1,
      maxLength: 3,
    })
    .map((changes) => {
      const whole = structuredClone(lines)
      for (const [place, value] of changes) put(whole, place, value)
      return Buffer.from(textOf(whole))
    })
  const disordered = fc.array(fc.constantFrom(...lines), { maxLength: 8 }).map((some) => Buffer.from(textOf(some)))
  const deep = fc.tuple(fc.constantFrom(...depths), fc.constantFrom(...places)).map(([depth, place]) => {
    const whole = structuredClone(lines)
    put(whole, place, 'DEEP')
    return Buffer.from(textOf(whole).replace('"DEEP"', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`))
  })
  const spoilt = fc.tuple(named, fc.nat(), fc.constantFrom(...oddBytes, ...noText)).map(([whole, place, bytes]) => {
    const at = place % whole.length
    return Buffer.concat([whole.subarray(0, at), bytes, whole.subarray(at)])
  })
  const half = fc.nat().map((place) => {
    const whole = Buffer.from(text.replaceAll(`"${session}"`, `"${neverWhole}"`))
    // Without the whole line of type end.
    return whole.subarray(0, place % (whole.length - 3))
  })
  const endless = fc
    .constantFrom('x', ' ', '[', '"', '{"type":"session","version":1,"a":"')
    .map((piece) => Buffer.from(piece.repeat(Math.ceil(200_000 / piece.length))))
  return fc.oneof(
    { weight: 3, arbitrary: named },
    { weight: 4, arbitrary: changed },
    { weight: 2, arbitrary: disordered },
    { weight: 2, arbitrary: deep },
    { weight: 2, arbitrary: spoilt },
    { weight: 2, arbitrary: half },
    { weight: 1, arbitrary: endless },
    { weight: 1, arbitrary: fc.constantFrom(...notLines).map((line) => Buffer.from(line)) },
  )
}

function textOf(lines: readonly unknown[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

function placesIn(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [[name], ...placesIn(inner).map((place) => [name, ...place])])
}

/** What an earlier change has taken away is left as it is. */
function put(whole: unknown, place: readonly (string | number)[], value: unknown): void {
  let inner = whole as Value
  for (const name of place.slice(0, -1)) {
    const next = inner[name]
    if (typeof next !== 'object' || next === null) return
    inner = next as Value
  }
  inner[String(place.at(-1))] = value
}

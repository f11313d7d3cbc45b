import type { JsonObject } from '../../../core/json.ts'
import type { RunRecord } from '../../../core/run.ts'
import type { Begun, Ended } from './rows.ts'

/** The known fields, in JSON of rows. */
const begunFields: Record<keyof Begun, true> = {
  entity_kind: true,
  created_at: true,
  started_at: true,
  background: true,
  timeout_ms: true,
  again_of: true,
  metadata: true,
  later: true,
}
const endedFields: Record<keyof Ended, true> = {
  completed_at: true,
  end_seq: true,
  cancellation_reason: true,
  error: true,
  cache_hit: true,
  usage: true,
  usage_by_model: true,
  sources: true,
  waiting: true,
}

const namesOf = <Name extends string>(fields: Record<Name, true>) => Object.keys(fields) as Name[]

/** What stays of a run whose user is erased. What a later version has recorded may tell of the user, so it does not stay. */
export const erasedBegun = namesOf(begunFields).filter((name) => name !== 'metadata' && name !== 'later')
export const erasedEnded = namesOf(endedFields).filter((name) => name !== 'sources' && name !== 'cancellation_reason')

/** A record for a copy: with what a later version has recorded in the fields of its row (`RunRecord.later`). */
export function withLater(record: RunRecord, begun: Begun, ended: Ended | null): RunRecord {
  const later: JsonObject = { ...begun.later, ...unknownIn(begun, begunFields), ...unknownIn(ended ?? {}, endedFields) }
  return Object.keys(later).length === 0 ? record : { ...record, later }
}

function unknownIn(fields: object, known: object): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(known, name)))
}

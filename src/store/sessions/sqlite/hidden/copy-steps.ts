import { isTry, isTurn, type RunRecord } from '../../../../core/run.ts'
import type { CopiedFile, RunPiece } from '../../../../core/session.ts'
import { stringifyLarge } from '../../../../runtime/json.ts'
import { Pace } from '../../../../runtime/yield.ts'
import { hashOf, piecesOf } from '../../../rules/file-pieces.ts'
import { usageOf } from '../../../rules/session-usage.ts'
import { UsageSums } from '../../../rules/usage-rows.ts'
import type { SqlValue } from '../../../sqlite/connection.ts'
import { encodeLargeBatch } from '../../rows/event-batch.ts'
import { begunOf, endedOf, messageRows, noTurn } from '../../rows/rows.ts'
import { startedRunColumns } from '../schema/columns.ts'
import type { runs } from '../schema/schema.ts'

/** Size of one commit, unless a single row is larger. */
const stepCharacters = 1024 * 1024

export const copiedRunColumns = [...startedRunColumns, 'fence', 'reserveUntil', 'replacedBy', 'follows'] as const

export interface CopyStep {
  /** Values of `copiedRunColumns`. */
  runs: SqlValue[][]
  /** JSON of rows of run id, first number and batch; made before the commit, which blocks other writes. */
  events: string
  files: SqlValue[][]
  pieces: FilePiece[]
  /** The number of runs without child runs. */
  turns: number
  /** What the turns used. */
  usage: UsageSums
  /** Approximate size of the rows. */
  characters: number
}

interface FilePiece {
  hash: string
  piece: number
  bytes: Uint8Array
}

/** Converts the runs of a copy to rows, as they arrive. */
export async function* copySteps(pieces: AsyncIterable<RunPiece>): AsyncGenerator<CopyStep> {
  const pace = new Pace()
  let step = emptyStep()
  for await (const piece of pieces) {
    if ('run' in piece) {
      const row = await rowOf(piece.run)
      step.runs.push(row)
      if (isTurn(piece.run)) {
        step.turns++
        step.usage.add(usageOf(piece.run))
      }
      for (const value of row) if (typeof value === 'string') step.characters += value.length
    } else if ('file' in piece) {
      const { file, run_id: runId } = piece
      const hash = await hashOf(file.bytes)
      step.files.push(fileRow(file, runId, hash))
      for (const [place, bytes] of piecesOf(file.bytes).entries()) {
        step.pieces.push({ hash, piece: place, bytes })
        step.characters += bytes.byteLength
        if (step.characters < stepCharacters) continue
        yield await toStep(step)
        step = emptyStep()
      }
    } else {
      const batch = await encodeLargeBatch(piece.events)
      for (const { firstSeq, text } of batch?.parts ?? []) {
        step.events.push([piece.run_id, firstSeq, text])
        step.characters += text.length
      }
    }
    await pace.step()
    if (step.characters < stepCharacters) continue
    yield await toStep(step)
    step = emptyStep()
  }
  yield await toStep(step)
}

interface Collected extends Omit<CopyStep, 'events'> {
  events: [runId: string, firstSeq: number, batch: string][]
}

async function toStep(step: Collected): Promise<CopyStep> {
  return { ...step, events: await stringifyLarge(step.events) }
}

function emptyStep(): Collected {
  return { runs: [], events: [], files: [], pieces: [], turns: 0, usage: new UsageSums(), characters: 0 }
}

/** As `copyFiles` takes it: the session is bound by itself. */
function fileRow({ file_id, media_type, name, url, bytes }: CopiedFile, runId: string, hash: string): SqlValue[] {
  return [file_id, runId, hash, media_type, name, bytes.byteLength, url]
}

async function rowOf(run: RunRecord): Promise<SqlValue[]> {
  const output = run.messages.filter(({ role }) => role === 'assistant')
  const endSeq = run.end_seq ?? 0
  const ended = { ...run, completed_at: run.completed_at ?? run.created_at, end_seq: endSeq }
  const row: Omit<typeof runs.$inferSelect, 'runNumber'> = {
    runId: run.run_id,
    sessionId: run.session_id,
    entityId: run.entity_id,
    status: run.status,
    userId: run.user_id,
    parentRunId: run.parent_run_id ?? (isTry(run) ? noTurn : null),
    truncated: run.truncated ? 1 : 0,
    owner: '',
    // Its events come later; none of them has a higher number.
    lastSeq: Math.max(1, endSeq),
    claimKey: null,
    claimHash: null,
    claimExpiresAt: null,
    startState: null,
    begun: begunOf(run),
    ended: endedOf(ended),
    input: await stringifyLarge(messageRows(run.messages.filter(({ role }) => role === 'user'))),
    output: output.length === 0 ? null : await stringifyLarge(messageRows(output)),
    lastBatch: null,
    given: run.given === null ? null : await stringifyLarge(run.given),
    replacedBy: run.replaced_by,
    follows: run.follows ?? null,
    stateBefore: null,
    replacedState: null,
    fence: 1,
    reserveUntil: Math.max(1, endSeq),
  }
  return copiedRunColumns.map((column) => row[column])
}

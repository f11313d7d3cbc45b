import { AppError, invalid } from '../../core/error.ts'
import { freeze } from '../../core/json.ts'
import { contentOf, type Message, type Part, textOf } from '../../core/message.ts'
import type { RunGiven, RunRecord } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { StartRun } from '../services.ts'
import type { RunServices } from './run-services.ts'

export type ClientInstructions = 'append' | 'ignore'

export interface TakenGiven {
  given?: RunGiven | undefined
  ignored?: readonly string[] | undefined
}

/** What a run takes of what its caller gave. Throws `invalid_request` for what the entity can't do. */
export function takeGiven(
  { given, keyHasUser, entityId }: Pick<StartRun, 'given' | 'keyHasUser' | 'entityId'>,
  { takes = [] }: Pick<Runnable, 'takes'>,
  setting: ClientInstructions = keyHasUser === true ? 'ignore' : 'append',
): TakenGiven {
  if (given === undefined) return {}
  if (given.output_schema !== undefined && !takes.includes('output_schema')) {
    throw invalid(
      `'${entityId}' takes no \`output_schema\`: that is for an agent that answers with a model and has no \`output\` of its own. Remove it.`,
      'output_schema',
    )
  }
  if (given.instructions === undefined || (setting === 'append' && takes.includes('instructions'))) return { given }
  const { instructions: _instructions, ...rest } = given
  return { given: Object.keys(rest).length === 0 ? undefined : rest, ignored: ['instructions'] }
}

/** What a run works with of what its record has of its caller. */
export function workedWith({ protocol, traceparent, ...given }: RunGiven): RunGiven | undefined {
  return (protocol ?? traceparent) !== undefined && Object.keys(given).length === 0 ? undefined : given
}

/** What child runs have of what the caller of the outer run gave: they share its conversation. */
export function sharedGiven(outer: RunGiven | undefined): RunGiven | undefined {
  return outer?.history && { history: outer.history }
}

/** The caller's history as messages; they came with this run. */
export function toldMessages(
  { run_id, created_at }: RunRecord,
  history: NonNullable<RunGiven['history']>,
): readonly Message[] {
  return history.map(({ role, parts }, place) =>
    freeze({
      message_id: `msg_${run_id.slice(4)}_${place}`,
      run_id,
      role,
      parts,
      content: contentOf(parts),
      created_at,
    }),
  )
}

/** The last `count` turns; each begins with a message of the user. */
export function newestTurns(messages: readonly Message[], count: number): readonly Message[] {
  if (count < 1) return []
  let left = count
  const start = messages.findLastIndex(({ role }) => role === 'user' && --left < 1)
  return left < 1 ? messages.slice(start) : messages
}

/** Lets the entity check the input before a run exists. Throws `timeout` when that takes too long. */
export async function checkInput(
  { timers, requestTimeoutMs }: Pick<RunServices, 'timers' | 'requestTimeoutMs'>,
  runnable: Runnable,
  { parts, given }: { parts: Part[]; given?: RunGiven | undefined },
): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = timers.set(() => {
    late.reject(
      new AppError(
        'timeout',
        `The input was not checked within requestTimeout (${requestTimeoutMs} ms). No run began.`,
      ),
    )
  }, requestTimeoutMs)
  try {
    await Promise.race([runnable.checkInput?.({ parts, text: textOf(parts) }, given), late.promise])
  } finally {
    timers.clear(timer)
  }
}

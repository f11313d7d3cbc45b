import { AppError, invalid, isAppError } from '../../core/error.ts'
import type { InputRequired } from '../../core/event.ts'
import type { CallAnswer, Run, RunHead } from '../../core/run.ts'
import { kindOf } from '../../core/waiting.ts'
import type { Services } from '../../service/services.ts'
import type { ChatPost, PostedAnswers } from './request.ts'
import { runIdOf } from './run.ts'

type Asked = Pick<InputRequired, 'call_id' | 'kind' | 'schema'>

export interface ChatAnswer {
  runId: string
  answers: Record<string, CallAnswer>
}

const waitingAtOnce = 100
/** How many runs are read to see whether an answer was given already. */
const readAgain = 100

/**
 * The run that the posted answers are for. Any assistant message may have them: an older card is answered in the middle of
 * the conversation. An answer that was given already names its run again, so that sending twice is safe.
 */
export async function findAnswered(
  { runs, sessions }: Pick<Services, 'runs' | 'sessions'>,
  { chatId, answers, last }: ChatPost,
): Promise<ChatAnswer> {
  await sessions.get(chatId)
  const waiting = await runs.list({ session_id: chatId, status: 'input_required' }, { limit: waitingAtOnce })
  const open: { runId: string; asked: readonly Asked[] }[] = []
  for (const run of waiting.items) {
    const isTop = run.parent_run_id === null && run.replaced_by === null
    if (isTop) open.push({ runId: run.run_id, asked: await openOf(runs, run) })
  }
  let partly: ChatAnswer | undefined
  for (const posted of answers) {
    for (const { runId, asked } of open) {
      const given = answersTo(asked, posted)
      const answered = Object.keys(given).length
      if (answered > 0 && answered === asked.length) return { runId, answers: given }
      if (answered > 0) partly ??= { runId, answers: given }
    }
  }
  // The service says what is missing.
  if (partly !== undefined) return partly
  const seen = new Set<string>()
  for (const posted of answers) {
    if (seen.has(posted.messageId)) continue
    if (seen.size === readAgain) break
    seen.add(posted.messageId)
    const again = await givenBefore({ runs, sessions }, chatId, posted)
    if (again !== undefined) return again
  }
  throw invalid(
    'The last message is an answer of the assistant, and nothing in it answers what a run is waiting for. Send a user message.',
    last.path,
  )
}

async function openOf(runs: Services['runs'], run: Run): Promise<readonly Asked[]> {
  // Earlier versions recorded it in the events only.
  return run.waiting.length > 0 ? run.waiting : (await runs.get(run.run_id)).waiting
}

function answersTo(asked: readonly Asked[], { answers }: PostedAnswers): Record<string, CallAnswer> {
  const kinds = new Map(asked.flatMap((one) => (one.call_id === undefined ? [] : [[one.call_id, kindOf(one)]])))
  return Object.fromEntries(
    answers.flatMap(({ callId, kind, ...answer }) => (kinds.get(callId) === kind ? [[callId, answer]] : [])),
  )
}

/** The message's run, with the posted answers to what it last asked; undefined when there are none. */
async function givenBefore(
  { runs, sessions }: Pick<Services, 'runs' | 'sessions'>,
  chatId: string,
  posted: PostedAnswers,
): Promise<ChatAnswer | undefined> {
  const run = await headOf(runs, runIdOf(posted.messageId))
  if (run === undefined || run.session_id !== chatId) return undefined
  // What is recorded: a run that is under way would be followed to its end.
  const { events } = await sessions.history(chatId, 1, true)
  let asked: InputRequired[] = []
  let answered: InputRequired[] = []
  for await (const page of events?.(run.run_id) ?? []) {
    for (const event of page) {
      if (event.type === 'input_required') asked.push(event)
      if (event.type !== 'run_resumed' || event.from !== 'input_required') continue
      answered = asked
      asked = []
    }
  }
  const answers = answersTo(answered, posted)
  return Object.keys(answers).length === 0 ? undefined : { runId: run.run_id, answers }
}

async function headOf(runs: Services['runs'], runId: string): Promise<RunHead | undefined> {
  try {
    return await runs.head(runId)
  } catch (error) {
    if (isAppError(error) && error.code === 'run_not_found') return undefined
    throw error
  }
}

/** A conflict of two answers, in the words of the page. */
export function otherAnswer(error: unknown): unknown {
  if (!isAppError(error) || error.code !== 'conflict') return error
  const { runId, sessionId } = error
  return new AppError('conflict', `This was answered already, or the run has ended. ${error.message}`, {
    runId,
    sessionId,
  })
}

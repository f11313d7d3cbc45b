import { AppError, invalid } from '../../../core/error.ts'
import type { RunRecord } from '../../../core/run.ts'
import type { Session } from '../../../core/session.ts'
import type { StartRun } from '../../../service/services.ts'
import { withCode } from '../error.ts'
import type { OpenAIServices } from '../openai.ts'
import { countStretches, findResponse, noResponse, unlessMissing } from './find.ts'
import type { ResponsePost } from './request.ts'

/** The session in which a response is made. */
export interface Place extends Pick<StartRun, 'sessionId' | 'unknownSession'> {
  entityId: string
  /** Nothing was said in it, so that the caller says what came before, if anything. */
  isNew: boolean
  /** The session is a copy that was made for this response. */
  isFork?: boolean
}

type Placing = Pick<OpenAIServices, 'runs' | 'sessions' | 'bookmarks'>

/** `isLast`: the run has not gone on after it. */
export interface Previous {
  run: RunRecord
  isLast: boolean
}

/** The response to go on from. Throws `invalid_request` for one that is not there. */
export async function findPrevious(services: Placing, id: string): Promise<Previous> {
  const found = await unlessMissing(findResponse(services, id))
  const count = found === undefined ? 0 : await countStretches(services, found.run)
  if (found === undefined || found.stretch > count) {
    const { message } = noResponse(id)
    const details = [{ path: 'previous_response_id', message }]
    throw withCode(new AppError('invalid_request', message, { details }), 'previous_response_not_found')
  }
  return { run: found.run, isLast: found.stretch === count }
}

/** The session of a new turn. Responses are a tree: one that was continued already is continued in a copy. */
export async function placeOf(services: Placing, post: ResponsePost, before: Previous | undefined): Promise<Place> {
  const { model, conversation } = post
  if (before?.isLast === false) {
    const message = `The response '${post.previous}' asked for something and was answered. Go on from the last response that came of it.`
    throw invalid(message, 'previous_response_id')
  }
  const previous = before?.run
  const sessionId = previous?.session_id ?? conversation
  if (sessionId === undefined) return { entityId: model ?? missingModel(), unknownSession: 'create', isNew: true }
  // A whole session is much to read, and is needed for a model that is not named and for what the caller says came before.
  const isNeeded = model === undefined || (previous === undefined && post.input.earlier.length > 0)
  // One that is someone else's is refused when the run starts.
  const session = isNeeded ? (await unlessMissing(services.sessions.get(sessionId)))?.session : undefined
  const entityId = model ?? ownerOf(session) ?? missingModel()
  if (previous === undefined)
    return { entityId, sessionId, unknownSession: 'create', isNew: isNeeded && !session?.run_count }
  if (await isNewest(services, previous, previous.user_id ?? '')) {
    return { entityId, sessionId, unknownSession: 'refuse', isNew: false }
  }
  const fork = await services.sessions.fork(sessionId, { runId: previous.run_id })
  return { entityId, sessionId: fork.session.session_id, unknownSession: 'refuse', isNew: false, isFork: true }
}

function ownerOf(session: Session | undefined): string | undefined {
  const owners = [session?.agent_id, session?.team_id, session?.workflow_id].filter((id) => typeof id === 'string')
  return owners.length === 1 ? owners[0] : undefined
}

function missingModel(): never {
  throw invalid('model is missing. It is the id of an agent, team or workflow: see GET /models.', 'model')
}

/** Whether this request may continue the turn in its session. Of several at once, on any instance, one may. */
async function isNewest({ sessions, bookmarks }: Placing, run: RunRecord, owner: string): Promise<boolean> {
  const { runs } = await sessions.history(run.session_id, 1, false)
  if (runs.at(-1)?.run_id !== run.run_id) return false
  return bookmarks.add(`openai next ${owner} ${run.run_id}`, true)
}

import { invalid, isAppError } from '../../../core/error.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Run, RunGiven } from '../../../core/run.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { RunHandle, StartRun } from '../../../service/services.ts'
import { continuesAlone, type Leaving } from '../../leaving.ts'
import { firstSeqOf, stretchNumber } from '../../stretch.ts'
import { attemptOf } from '../attempts.ts'
import { readClientTools } from '../client-tools.ts'
import { unsupported } from '../error.ts'
import type { OpenAIServices } from '../openai.ts'
import { type Answered, findAnswered } from './answers.ts'
import { withReferences } from './earlier-turns.ts'
import { kept, protocolName } from './echo.ts'
import { findPrevious, type Place, type Previous, placeOf } from './place.ts'
import type { ResponsePost } from './request.ts'
import type { ResponseRecord } from './run.ts'

export interface Posting {
  services: OpenAIServices
  request: HttpRequest
  post: ResponsePost
  leaving: Leaving
}

/** A response that is made, or was made by an earlier request that was the same. */
export interface Posted {
  handle: RunHandle
  run: ResponseRecord & Pick<Run, 'status'>
  stretch: number
  ignored: readonly string[]
}

/** Starts or resumes a run: what the posted input wants. */
export async function answerPost(posting: Posting): Promise<Posted> {
  const { services, post } = posting
  // Before anything begins.
  continuesAlone(posting.request)
  const previous = post.previous === undefined ? undefined : await findPrevious(services, post.previous)
  const answered = await findAnswer(posting, previous)
  return answered === undefined ? begin(posting, previous) : resume(posting, answered)
}

async function findAnswer({ services, post }: Posting, previous: Previous | undefined): Promise<Answered | undefined> {
  const { answers, endsWithAnswers } = post.input
  // Without a previous response, what was answered before comes again with all that was said.
  if (answers.length === 0 || (previous === undefined && !endsWithAnswers)) return undefined
  const answered = await findAnswered(services, answers, previous?.run)
  const { conversation } = post
  if (conversation !== undefined && conversation !== answered?.run.session_id) return undefined
  if (answered === undefined || endsWithAnswers) return answered
  throw unsupported('Send the answers alone, and the message when they have been answered.', 'input')
}

async function follow({ services, request, post, leaving }: Posting, handle: RunHandle): Promise<void> {
  request.body.release?.()
  if (!post.background) await leaving.follow(services, request, handle)
}

/** A run is cancelled by `Leaving`, a while after its client has left. */
function modeOf({ post, request }: Posting): Pick<StartRun, 'mode' | 'onDisconnect' | 'signal'> {
  const mode = post.background ? 'background' : post.stream ? 'stream' : 'plain'
  return { mode, onDisconnect: 'continue', signal: request.signal }
}

async function resume(posting: Posting, { run, answer }: Answered): Promise<Posted> {
  const { services, post } = posting
  const handle = await services.runs.resume(run.run_id, { ...answer, ...modeOf(posting) })
  await follow(posting, handle)
  const first = await firstSeqOf(handle)
  const stretch = await stretchNumber(handle.events(0)[Symbol.asyncIterator](), first)
  const { instructions, outputSchema } = post
  const ignored = Object.entries({ instructions, text: outputSchema }).flatMap(([name, value]) => (value ? [name] : []))
  return { handle, run, stretch, ignored }
}

async function begin(posting: Posting, previous: Previous | undefined): Promise<Posted> {
  const { services, post } = posting
  if (post.input.parts.length === 0) throw invalid('input must end with a message of the user.', 'input')
  const place = await placeOf(services, post, previous)
  try {
    const posted = await start(posting, place)
    // An earlier request, that was the same, has made the response.
    if (posted.handle.replayed && posted.handle.sessionId !== place.sessionId) await dropFork(services, place)
    return posted
  } catch (error) {
    await dropFork(services, place)
    throw error
  }
}

async function dropFork({ sessions, logger }: OpenAIServices, { isFork, sessionId }: Place): Promise<void> {
  if (isFork !== true || sessionId === undefined) return
  try {
    await sessions.delete(sessionId)
  } catch (error) {
    if (isAppError(error) && error.code === 'session_not_found') return
    logger.error({ err: error, session_id: sessionId }, 'a session that was copied for a response could not be deleted')
  }
}

async function start(posting: Posting, place: Place): Promise<Posted> {
  const { services, request, post } = posting
  const { entityId, sessionId, unknownSession } = place
  const { input, body, metadata, user } = post
  const takes = services.registry.get(entityId).takes?.includes('client_tools') ?? false
  const { client_tools, ignored } = readClientTools(body, takes)
  const instructions = [post.instructions, ...input.instructions].filter((one) => one !== undefined && one !== '')
  const earlier = place.isNew ? await withReferences(services, input.earlier) : []
  const echo = kept(post.echo)
  const openai: JsonObject = { ...(metadata && { metadata }), ...(user !== undefined && { user }) }
  const given: StartRun['given'] & Pick<RunGiven, 'protocol'> = {
    client_tools,
    ...(earlier.length > 0 && { history: earlier }),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    output_schema: post.outputSchema,
    // What is as usual needs no record.
    ...(Object.keys(echo).length > 0 && { protocol: { name: protocolName, echo } }),
  }
  const handle = await services.runs.start({
    entityId,
    parts: input.parts,
    sessionId,
    unknownSession,
    metadata: Object.keys(openai).length === 0 ? undefined : { openai },
    given: Object.values(given).some((one) => one !== undefined) ? given : undefined,
    ...modeOf(posting),
    idempotency: attemptOf(request, 'response', body, undefined),
  })
  await follow(posting, handle)
  const about = { handle, stretch: 1, ignored: [...ignored, ...(handle.ignored ?? [])] }
  if (handle.replayed) return { ...about, run: await services.runs.get(handle.runId) }
  const head = await services.runs.head(handle.runId)
  return { ...about, run: { ...head, given: { client_tools, protocol: given.protocol } } }
}

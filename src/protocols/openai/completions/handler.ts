import { AppError } from '../../../core/error.ts'
import { toWireEvent } from '../../../core/events/sent-event.ts'
import type { JsonObject } from '../../../core/json.ts'
import { json, type Reply, sse } from '../../../http/reply.ts'
import type { HttpRequest } from '../../../http/request.ts'
import { type Batch, toFrames } from '../../frames.ts'
import { continuesAlone } from '../../leaving.ts'
import { firstSeqOf, stretchNumber, stretchOf } from '../../stretch.ts'
import { completionId } from '../ids.ts'
import type { OpenAIServices, OpenAISettings } from '../openai.ts'
import { type Begun, beginRun } from './begin.ts'
import { type CompletionRequest, readCompletion } from './request.ts'
import { CompletionFold, type CompletionOptions, CompletionProjection } from './stream.ts'

/** Answers `POST /chat/completions`. */
export function createCompletions(settings: OpenAISettings): (request: HttpRequest) => Promise<Reply> {
  const { services: servicesOf, leaving, showTools } = settings

  return async (request) => {
    const services = servicesOf(request)
    continuesAlone(request)
    const posted = readCompletion(await request.body.json())
    const begun = await beginRun(services, request, posted, settings)
    request.body.release?.()
    const { handle, ignored, asking, clientTools } = begun
    await leaving.follow(services, request, handle)
    const { stretch, events } = await stretchIn(services, begun)
    const options: CompletionOptions = {
      id: completionId(handle.runId, stretch),
      model: posted.model,
      sessionId: handle.sessionId,
      isNamed: asking.named !== undefined,
      showTools: showTools && { except: clientTools },
    }
    const headers = {
      'X-Run-Id': handle.runId,
      'X-Session-Id': handle.sessionId,
      'x-should-retry': 'false',
      ...(ignored.length > 0 && { 'X-Agentserve-Ignored': ignored.join(', ') }),
    }
    return posted.stream
      ? sse(streamOf(services, begun, posted, options, events), headers)
      : json(await answerOf(services, begun, options, events), 200, headers)
  }
}

interface Stretch {
  /** From 1. */
  stretch: number
  events: AsyncIterator<Batch>
}

/** The events that the request is about: up to the next pause, also for a client that comes later. */
async function stretchIn({ runs }: OpenAIServices, { handle, isResumed }: Begun): Promise<Stretch> {
  const { runId } = handle
  const fromStart = () => handle.events(0)[Symbol.asyncIterator]()
  if (!isResumed) return { stretch: 1, events: stretchOf(fromStart(), { number: 1 }) }
  const from = await firstSeqOf(handle)
  const stretch = await stretchNumber((await runs.events(runId, 0))[Symbol.asyncIterator](), from)
  return { stretch, events: stretchOf(fromStart(), { from }) }
}

/** The frames, the last ones after the turn can be found again: the client may post the next one at once. */
function streamOf(
  services: OpenAIServices,
  begun: Begun,
  { includeUsage }: CompletionRequest,
  options: CompletionOptions,
  events: AsyncIterator<Batch>,
): AsyncIterable<string> {
  const { logger } = services
  const { runId } = begun.handle
  const projection = new CompletionProjection({ ...options, includeUsage })
  const frames = toFrames(projection, events, { runId, logger })[Symbol.asyncIterator]()
  let isRemembered = false
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const frame = await frames.next()
        if (projection.answer !== undefined && !isRemembered) {
          isRemembered = true
          await remember(services, begun, projection.answer)
        }
        return frame
      },
      async return() {
        await frames.return?.()
        return { done: true, value: undefined }
      },
    }),
  }
}

async function answerOf(
  services: OpenAIServices,
  begun: Begun,
  options: CompletionOptions,
  events: AsyncIterator<Batch>,
): Promise<JsonObject> {
  const fold = new CompletionFold(options)
  for await (const batch of { [Symbol.asyncIterator]: () => events }) {
    for (const event of batch) fold.add(toWireEvent(event, false))
  }
  const answer = fold.answer()
  const { runId, sessionId } = begun.handle
  if (answer === undefined) {
    throw new AppError('run_failed', 'The events ended before the run did.', { runId, sessionId })
  }
  if (fold.isCompleted) await remember(services, begun, fold.content)
  return answer
}

/** Without it the next turn gets a new session: no reason to withhold this answer. */
async function remember({ logger }: OpenAIServices, { handle, remember: keep }: Begun, answer: string): Promise<void> {
  try {
    await keep?.(answer)
  } catch (error) {
    logger.error({ err: error, run_id: handle.runId }, 'a turn could not be kept for the next one')
  }
}

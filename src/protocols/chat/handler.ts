import { isAppError } from '../../core/error.ts'
import { toWireEvent } from '../../core/events/sent-event.ts'
import { isSessionId } from '../../core/id.ts'
import { isEnded, type RunHead } from '../../core/run.ts'
import { empty, json, type Reply, sse } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { jsonSize } from '../../runtime/json-size.ts'
import type { RunHandle } from '../../service/services.ts'
import { parseKnown, parseQuery } from '../../wire/parse.ts'
import { ChatHistoryQuery, ChatQuery, ChatStop, ChatStreamQuery } from '../../wire/protocols/chat.ts'
import { toFrames } from '../frames.ts'
import { fileAddressAt, fileIdIn } from '../kept-file.ts'
import { positionOf } from '../projection.ts'
import { firstSeqOf } from '../stretch.ts'
import { runUnderWay } from '../turns.ts'
import { type ChatMessage, MessageFold, userMessage, userPart } from './message.ts'
import { answerPost, type ChatServices } from './post.ts'
import { readPost } from './request.ts'
import { ChatRun, type ChatRunOptions } from './run.ts'
import { chatProjection } from './stream.ts'

export type ServicesOf = (request: HttpRequest) => ChatServices

export interface ChatSettings {
  /** Of the server: where files are. */
  prefix: string
  services: ServicesOf
  /** How many files a run may bring. */
  maxFiles: number
}

type Handler = (request: HttpRequest) => Promise<Reply>

const stoppedAtOnce = 100
/** How many characters a reload has, and one turn more. */
const mostCharacters = 16 * 1024 * 1024

/** What the routes of useChat do. */
export function createChat({
  prefix,
  services: servicesOf,
  maxFiles,
}: ChatSettings): Record<'post' | 'stream' | 'stop' | 'history', Handler> {
  const fileAddress = fileAddressAt(prefix)

  function begin(request: HttpRequest): { services: ChatServices; agentId: string; chatId: string } {
    const { agent: agentId = '', chat_id: chatId = '' } = request.params
    const services = servicesOf(request)
    services.registry.get(agentId)
    return { services, agentId, chatId }
  }

  async function post(request: HttpRequest): Promise<Reply> {
    const { services, agentId } = begin(request)
    const query = parseQuery(ChatQuery, request.query)
    const posted = readPost(await request.body.json())
    const onDisconnect = posted.options.on_disconnect ?? query.on_disconnect ?? 'continue'
    const fileIdOf = (url: string) => fileIdIn(fileAddress, posted.chatId, url)
    const { handle, continues } = await answerPost({
      services,
      request,
      agentId,
      post: posted,
      onDisconnect,
      maxFiles,
      fileIdOf,
    })
    request.body.release?.()
    const resumedAt = continues ? await firstSeqOf(handle) : undefined
    return streamOf(services, handle, { fileAddress, ui5: query.ui === '5', resumedAt })
  }

  async function stream(request: HttpRequest): Promise<Reply> {
    const { services, chatId } = begin(request)
    const { ui } = parseQuery(ChatStreamQuery, request.query)
    const active = await activeIn(services, chatId)
    if (active === undefined) return empty()
    const { run_id: runId, session_id: sessionId } = active
    const events = await services.runs.events(runId, 0)
    return streamOf(services, { runId, sessionId, events: () => events }, { fileAddress, ui5: ui === '5' })
  }

  async function stop(request: HttpRequest): Promise<Reply> {
    const { services, chatId } = begin(request)
    const { activeStreamId } = parseKnown(ChatStop, await request.body.json())
    // Those that wait behind it too.
    for (let count = 0; count < stoppedAtOnce; count++) {
      const active = await activeIn(services, chatId)
      if (active === undefined || (activeStreamId !== undefined && activeStreamId !== active.run_id)) break
      await cancel(services, active.run_id)
    }
    return json({ success: true })
  }

  async function history(request: HttpRequest): Promise<Reply> {
    const { services, chatId } = begin(request)
    const { ui, limit } = parseQuery(ChatHistoryQuery, request.query)
    await services.sessions.get(chatId)
    const found = await services.sessions.active(chatId)
    const { runs, has_more, events } = await services.sessions.history(chatId, limit, true)
    const turns: ChatMessage[][] = []
    let characters = 0
    for (const run of runs.toReversed()) {
      if (characters >= mostCharacters) break
      const turn: ChatMessage[] = []
      const input = run.messages.find(({ role }) => role === 'user')
      if (input !== undefined) turn.push(userMessage(input, (part) => userPart(part, chatId, fileAddress)))
      // The stream brings the answer of a run under way: clients would have it twice.
      if (isEnded(run.status) && events !== undefined) {
        const answer = await foldOf(events(run.run_id), { fileAddress, ui5: ui === '5' })
        // Otherwise nobody would see that this message was not answered.
        if (answer.parts.length === 0 && run.status === 'interrupted') answer.parts.push({ type: 'step-start' })
        if (answer.parts.length > 0) turn.push(answer)
      }
      turns.unshift(turn)
      characters += jsonSize(turn, mostCharacters)
    }
    const messages = turns.flat()
    const hasMore = has_more || turns.length < runs.length
    const activeRunId = runUnderWay(found, runs)?.run_id ?? null
    return json({ id: chatId, messages, activeRunId, has_more: hasMore })
  }

  return { post, stream, stop, history }
}

function streamOf(
  { logger }: ChatServices,
  { runId, sessionId, events, ignored }: Pick<RunHandle, 'runId' | 'sessionId' | 'events' | 'ignored'>,
  options: ChatRunOptions,
): Reply {
  const after = options.resumedAt === undefined ? undefined : positionOf(options.resumedAt, 0) - 1
  const frames = toFrames(chatProjection(options), events(0)[Symbol.asyncIterator](), { runId, logger, after })
  return sse(frames, {
    'X-Run-Id': runId,
    'X-Session-Id': sessionId,
    'x-vercel-ai-ui-message-stream': 'v1',
    ...(ignored !== undefined && { 'X-Agentserve-Ignored': ignored.join(', ') }),
  })
}

async function foldOf(
  pages: AsyncIterable<readonly Parameters<typeof toWireEvent>[0][]>,
  options: ChatRunOptions,
): Promise<ChatMessage> {
  const projection = new ChatRun(options)
  const fold = new MessageFold()
  for await (const page of pages) {
    for (const event of page) for (const chunk of projection.add(toWireEvent(event, false))) fold.add(chunk)
  }
  return fold.message()
}

/** An id that no session can have is one of an unknown chat. */
async function activeIn({ sessions }: ChatServices, chatId: string): Promise<RunHead | undefined> {
  return isSessionId(chatId) ? sessions.active(chatId) : undefined
}

async function cancel({ runs }: ChatServices, runId: string): Promise<void> {
  try {
    await runs.cancel(runId)
  } catch (error) {
    // It has ended meanwhile.
    if (!isAppError(error) || error.code !== 'conflict') throw error
  }
}

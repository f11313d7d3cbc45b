import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Part } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { RunHandle, Services, StartRun } from '../../service/services.ts'
import { assertFew, type PostedPart, withContents } from '../kept-file.ts'
import { findTurn } from '../turns.ts'
import { findAnswered, otherAnswer } from './answers.ts'
import { readParts } from './input.ts'
import type { ChatPost } from './request.ts'
import { messageIdOf } from './run.ts'

export type ChatServices = Pick<Services, 'registry' | 'runs' | 'sessions' | 'logger'>

export interface Answering {
  handle: RunHandle
  /** The stream begins with the last stretch of the run, because the client has the message up to there. */
  continues: boolean
}

interface Posting {
  services: ChatServices
  request: HttpRequest
  agentId: string
  post: ChatPost
  onDisconnect: 'cancel' | 'continue'
  /** How many files a run may bring. */
  maxFiles: number
  /** The file of the session that an address in a message is; undefined for others. */
  fileIdOf: (url: string) => string | undefined
}

/** Starts, joins, replaces or resumes a run: what the posted messages want. */
export async function answerPost(posting: Posting): Promise<Answering> {
  const { post } = posting
  if (post.last.role === 'assistant') return resume(posting)
  const parts = readParts(post.last.parts, post.last.path, posting.fileIdOf)
  const isRegenerated = post.trigger === 'regenerate-message'
  // Without a messageId it is a new message; if it comes twice, its key names the run.
  if (!isRegenerated && post.messageId !== post.last.id) return begin(posting, parts, { name: 'message' })
  const turn = await findTurn(posting.services, post.chatId, post.last.id)
  if (turn === undefined) return begin(posting, parts, { name: 'message' })
  const isSame = isRecorded(parts, turn.message.parts)
  if (isSame && !isRegenerated && !hasFailed(turn.run)) return follow(posting, turn.run)
  return begin(posting, parts, { name: isRegenerated ? 'regenerate' : 'edit', replaces: turn.run.run_id })
}

/** A message that is sent again after it failed wants another answer. */
function hasFailed({ status }: RunRecord): boolean {
  return status === 'failed' || status === 'cancelled' || status === 'interrupted'
}

async function follow({ services }: Posting, run: RunRecord): Promise<Answering> {
  const { run_id: runId, session_id: sessionId } = run
  const events = await services.runs.events(runId, 0)
  const handle: RunHandle = { runId, sessionId, replayed: true, events: () => events, result: async () => run }
  return { handle, continues: false }
}

/** Starts that are not recorded yet, by key. */
const starting = new Map<string, Promise<RunHandle>>()

/** One after the other: two at once would interrupt each other before one finds the other's run. */
async function startOnce(runs: ChatServices['runs'], start: StartRun, key: string): Promise<RunHandle> {
  const earlier = starting.get(key)
  const started = earlier === undefined ? runs.start(start) : earlier.then(ignore, ignore).then(() => runs.start(start))
  starting.set(key, started)
  try {
    return await started
  } finally {
    if (starting.get(key) === started) starting.delete(key)
  }
}

function ignore(): void {}

async function begin(
  posting: Posting,
  parts: readonly PostedPart[],
  way: { name: string; replaces?: string },
): Promise<Answering> {
  const { services, request, agentId, post, maxFiles } = posting
  const { chatId, options } = post
  assertFew(parts, maxFiles, post.last.path)
  const { client_tools, instructions } = options
  const caller = `${request.caller} ${request.userId ?? ''}`
  const about = digest(JSON.stringify([chatId, agentId, post.last.id, way.replaces ?? '']))
  const idempotency = {
    key: `ui ${way.name} ${caller} ${about}`,
    hash: digest(JSON.stringify(parts)),
    whileRunning: 'join' as const,
  }
  const start: StartRun = {
    entityId: agentId,
    parts: await withContents(services.sessions, chatId, parts),
    messageId: post.last.id,
    sessionId: chatId,
    unknownSession: 'create',
    userId: options.user_id,
    metadata: options.metadata,
    state: options.state,
    given: client_tools === undefined && instructions === undefined ? undefined : { client_tools, instructions },
    replaces: way.replaces,
    strategy: 'interrupt',
    ...modeOf(posting),
    idempotency,
  }
  return { handle: await startOnce(services.runs, start, idempotency.key), continues: false }
}

/** A run goes on when the page is reloaded; the stream finds it again. */
function modeOf({ onDisconnect, request }: Posting): Pick<StartRun, 'mode' | 'onDisconnect' | 'signal'> {
  return onDisconnect === 'cancel'
    ? { mode: 'stream', onDisconnect, signal: request.signal }
    : { mode: 'background', signal: request.signal }
}

async function resume(posting: Posting): Promise<Answering> {
  const { services, post } = posting
  const { runId, answers } = await findAnswered(services, post)
  try {
    const handle = await services.runs.resume(runId, { answers, ...modeOf(posting) })
    // Up to ai 6 a client continues its last message, whichever was answered.
    const continued = [post.last.id, post.messageId]
    return { handle, continues: continued.includes(messageIdOf(runId)) }
  } catch (error) {
    throw otherAnswer(error)
  }
}

/** Whether the page sends what is recorded. The content of a file that it sends again is not compared, its name and type are. */
function isRecorded(posted: readonly PostedPart[], recorded: readonly Part[]): boolean {
  return isDeepStrictEqual(posted.map(outline), recorded.map(outline))
}

function outline(part: PostedPart | Part): unknown {
  if (part.type !== 'file' && part.type !== 'kept-file') return part
  return ['file', part.media_type, part.name ?? '']
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

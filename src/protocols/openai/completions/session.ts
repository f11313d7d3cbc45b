import { isAppError } from '../../../core/error.ts'
import { isSessionId } from '../../../core/id.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { HttpRequest } from '../../../http/request.ts'
import { field, wrong } from '../../fields.ts'
import type { OpenAIServices, OpenAISettings } from '../openai.ts'
import { type Conversation, ConversationDigest } from './messages.ts'
import type { CompletionRequest } from './request.ts'

/** Who asks, and where the conversation is kept. */
export interface Asking {
  /** The person behind the caller; undefined when the request does not say it. */
  endUser: string | undefined
  /** The session that the request names. */
  named: string | undefined
  /** A request of Open WebUI for a title or the like: no turn of the conversation. */
  isTask: boolean
}

export function readAsking(
  request: HttpRequest,
  posted: CompletionRequest,
  { sessionFromUser }: Pick<OpenAISettings, 'sessionFromUser'>,
): Asking {
  const endUser = posted.user ?? headerOf(request, 'x-openwebui-user-id')
  const isTask =
    posted.conversation.lastUserText().startsWith('### Task:') &&
    Object.keys(request.headers).some((name) => name.startsWith('x-openwebui-'))
  const named = nameOf(request, posted) ?? (sessionFromUser ? sessionId(posted.user, 'user') : undefined)
  return { endUser, named: isTask ? undefined : named, isTask }
}

function nameOf(request: HttpRequest, { metadata = {} }: CompletionRequest): string | undefined {
  return (
    sessionId(headerOf(request, 'x-session-id'), 'X-Session-Id') ??
    sessionId(headerOf(request, 'x-openwebui-chat-id'), 'X-OpenWebUI-Chat-Id') ??
    sessionId(field(metadata, 'session_id'), 'metadata.session_id')
  )
}

function sessionId(id: unknown, param: string): string | undefined {
  if (id === undefined || isSessionId(id)) return id
  throw wrong(param, '1 to 128 of A-Z a-z 0-9 . _ : -')
}

function headerOf({ headers }: HttpRequest, name: string): string | undefined {
  const header = headers[name]
  return typeof header === 'string' && header !== '' ? header : undefined
}

/** Whether a run was started for the same person behind the key. */
export function isOfEndUser(metadata: JsonObject | null, endUser: string | undefined): boolean {
  const openai = metadata?.openai
  const user = typeof openai === 'object' && openai !== null && !Array.isArray(openai) ? openai.user : undefined
  return (user ?? undefined) === endUser
}

interface Turn {
  run_id: string
  session_id: string
}

/** More conversations of one person that are equal are not told apart. */
const mostEqual = 4

/**
 * Finds the session of a conversation that a client posts without naming it, by what its completed turns left. Only for requests
 * that tell the end user, by their fields or by the caller's key: many people may share a key and begin with the same words.
 */
export class Turns {
  readonly #services: OpenAIServices
  readonly #about: readonly string[] | undefined

  constructor(services: OpenAIServices, request: HttpRequest, model: string, endUser: string | undefined) {
    const { caller, userId } = request
    this.#services = services
    this.#about =
      endUser === undefined && userId === undefined ? undefined : [caller, userId ?? '', endUser ?? '', model]
  }

  /** Whether turns of this person can be found again. */
  get areTold(): boolean {
    return this.#about !== undefined
  }

  /** The session whose whole conversation was posted, but for its new messages; undefined unless there is exactly one. */
  async find({ earlier }: Conversation): Promise<string | undefined> {
    if (this.#about === undefined || earlier.length === 0) return undefined
    const digest = new ConversationDigest()
    for (const message of earlier) digest.add(message)
    const key = digest.digest(this.#about)
    const found = new Set<string>()
    for (let place = 0; place < mostEqual; place++) {
      const turn = (await this.#services.bookmarks.find(keyOf(key, place))) as unknown as Turn | undefined
      if (turn === undefined) return found.size === 1 ? [...found][0] : undefined
      if (await this.#isNewest(turn)) found.add(turn.session_id)
    }
    return undefined
  }

  /**
   * Leaves a mark of a turn, once it has completed with this answer, as it was sent. Only for one whose session has the whole
   * conversation. Holds nothing of the request: a run may take hours.
   */
  keeper(conversation: Conversation, turn: Turn): ((answer: string) => Promise<void>) | undefined {
    const about = this.#about
    if (about === undefined) return undefined
    const digest = new ConversationDigest()
    for (const message of conversation.messages) digest.add(message)
    const { bookmarks } = this.#services
    return async (answer) => {
      digest.add({ role: 'assistant', parts: [{ type: 'text', text: answer }], calls: [], callId: '' })
      const key = digest.digest(about)
      for (let place = 0; place < mostEqual; place++) {
        if (await bookmarks.add(keyOf(key, place), { ...turn })) return
        const other = (await bookmarks.find(keyOf(key, place))) as unknown as Turn | undefined
        if (other?.run_id === turn.run_id) return
      }
    }
  }

  /** Otherwise the session has turns that were not posted. */
  async #isNewest({ run_id, session_id }: Turn): Promise<boolean> {
    try {
      const { runs } = await this.#services.sessions.history(session_id, 1, false)
      const newest = runs.at(-1)
      return newest?.run_id === run_id && newest.status === 'completed'
    } catch (error) {
      if (isAppError(error) && error.code === 'session_not_found') return false
      throw error
    }
  }
}

function keyOf(digest: string, place: number): string {
  return `openai turn ${digest} ${place}`
}

import type { Json, JsonObject } from '../../core/json.ts'
import { isObject } from '../../schema/field.ts'
import { Artifact } from './artifact.ts'
import { type PeerEvent, type PeerPart, type PeerStatus, wrongAnswer } from './objects.ts'

/** What is passed on of a task: a part of its answer, or what it tells while it works. */
export type Piece = { part: PeerPart } | { told: string }

const maxArtifacts = 1000
const maxOthers = 10_000

type Telling = Exclude<PeerEvent, { type: 'message' }>

/**
 * The answer of a peer, from events in any order: the answer grows, and what is told again is left out. Its text is that of
 * the artifacts; a status says the same again in many servers, so it counts only where there is nothing else.
 */
export class TaskAnswer {
  taskId: string | undefined
  contextId: string | undefined
  status: PeerStatus | undefined
  /** Grows with all that is new. */
  progress = 0
  readonly #artifacts = new Map<string, Artifact>()
  /** The status with which the task paused: a snapshot may still have it after the answer was sent. */
  #answered: string | undefined
  /** Parts that are no text; texts between them are one each. */
  #others = 0
  #isReply = false
  #hasContent = false
  #lastText: string | undefined
  #said: PeerPart[] = []
  #told: PeerPart[] = []
  #toldKey: string | undefined

  /** The task has ended or waits, or there is none: a message was the answer. */
  get isOver(): boolean {
    return this.#isReply || (this.status !== undefined && this.status.state !== 'working')
  }

  /** From here on a snapshot with the status of the pause counts as a new pause. */
  forgetPause(): void {
    this.#answered = undefined
  }

  take(event: PeerEvent): Piece[] {
    if (event.contextId !== undefined) this.contextId = event.contextId
    if (event.type === 'message') {
      this.#isReply = true
      return this.#passOn('', event.parts)
    }
    this.#checkTask(event)
    switch (event.type) {
      case 'task': {
        const pieces = event.artifacts.flatMap(({ id, parts }) => this.#passOn(id, this.#artifact(id).replace(parts)))
        this.#said = event.said
        if (placeOf(event.status) === this.#answered) return pieces
        return [...pieces, ...this.#setStatus(event.status)]
      }
      case 'artifact': {
        const { append } = event
        const { id, parts } = event.artifact
        const artifact = this.#artifact(id)
        return this.#passOn(id, append ? artifact.add(parts) : artifact.replace(parts))
      }
      case 'status':
        this.forgetPause()
        return this.#setStatus(event.status)
    }
  }

  /** What a task without content in its artifacts says in other places. */
  rest(): Piece[] {
    if (this.#hasContent || this.#isReply) return []
    const candidates = [this.status?.parts ?? [], this.#said, this.#told]
    const parts = candidates.find((one) => one.length > 0) ?? []
    const isKnown = this.#artifacts.values().some((artifact) => artifact.equals(parts))
    return isKnown ? [] : parts.map((part) => ({ part }))
  }

  /** What is needed to go on after a pause, in another process too. */
  toJson(): JsonObject {
    const { taskId = null, contextId = null, status } = this
    const artifacts = [...this.#artifacts].map(([id, artifact]): Json => [id, artifact.toJson()])
    return { task_id: taskId, context_id: contextId, status: status === undefined ? null : placeOf(status), artifacts }
  }

  /** Undefined for anything but a `toJson`. */
  static from(value: unknown): TaskAnswer | undefined {
    if (!isObject(value) || typeof value.task_id !== 'string' || !Array.isArray(value.artifacts)) return undefined
    const answer = new TaskAnswer()
    answer.taskId = value.task_id
    answer.contextId = typeof value.context_id === 'string' ? value.context_id : undefined
    answer.#answered = typeof value.status === 'string' ? value.status : undefined
    for (const entry of value.artifacts) {
      const [id, items]: unknown[] = Array.isArray(entry) ? entry : []
      const artifact = Artifact.from(items)
      if (typeof id !== 'string' || artifact === undefined) return undefined
      answer.#artifacts.set(id, artifact)
    }
    return answer
  }

  #checkTask({ taskId }: Telling): void {
    this.taskId ??= taskId
    if (taskId !== undefined && taskId !== this.taskId) throw wrongAnswer('events of another task')
  }

  #artifact(id: string): Artifact {
    const known = this.#artifacts.get(id)
    if (known !== undefined) return known
    if (this.#artifacts.size === maxArtifacts) throw wrongAnswer(`more than ${maxArtifacts} artifacts`)
    const artifact = new Artifact()
    this.#artifacts.set(id, artifact)
    return artifact
  }

  #setStatus(status: PeerStatus): Piece[] {
    const isNew = status.key !== this.status?.key
    this.status = status
    if (!isNew) return []
    this.progress++
    if (status.state !== 'working' || status.parts.length === 0 || status.key === this.#toldKey) return []
    this.#toldKey = status.key
    this.#told = status.parts
    const text = status.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return text === '' ? [] : [{ told: text }]
  }

  /** Texts of different artifacts are paragraphs. */
  #passOn(id: string, parts: readonly PeerPart[]): Piece[] {
    const pieces: Piece[] = []
    for (const part of parts) {
      if (part.type === 'text' && part.text === '') continue
      if (part.type !== 'text' && ++this.#others > maxOthers)
        throw wrongAnswer(`more than ${maxOthers} files and data parts`)
      const isNext = part.type === 'text' && this.#lastText !== undefined && this.#lastText !== id
      pieces.push({ part: isNext ? { type: 'text', text: `\n\n${part.text}` } : part })
      this.#lastText = part.type === 'text' ? id : undefined
    }
    if (pieces.length > 0) {
      this.#hasContent = true
      this.progress++
    }
    return pieces
  }
}

/** Equal for one status that is told several times. */
function placeOf({ key, at = '' }: PeerStatus): string {
  return `${key} ${at}`
}

import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import { type EntityKind, isEnded, type Run, type RunStatus } from '../../core/run.ts'
import { describeError } from '../command/exit.ts'
import { saidIn } from '../terminal/message-text.ts'
import { clip, Transcript } from './transcript.ts'

export interface RunHead {
  runId: string
  agentId: string
  kind: EntityKind
  status: RunStatus
}

export function toHead({ run_id: runId, entity_id: agentId, entity_kind: kind, status }: Run): RunHead {
  return { runId, agentId, kind, status }
}

function isResumable(status: RunStatus): boolean {
  return status === 'input_required' || status === 'interrupted'
}

const maxAskedChars = 100_000

/** Reads one run into a transcript, live or recorded. A cut connection continues at the last event. */
export class RunReader {
  /** An ended run is shown once it is read completely; an active run as it arrives. */
  shown: Transcript | undefined
  readonly #client: Client
  readonly #head: RunHead
  #transcript: Transcript | undefined
  #reading: AbortController | undefined

  constructor(client: Client, head: RunHead) {
    this.#client = client
    this.#head = head
  }

  get status(): RunStatus | undefined {
    return this.#transcript?.status
  }

  /** Whether there is more to read; `status` is the newest known one. */
  wants(status: RunStatus): boolean {
    if (this.#reading !== undefined) return false
    return this.status === undefined || (!isEnded(status) && isResumable(this.status))
  }

  /** Reads to the run's end or its next pause. Throws only when the server is unreachable. */
  async read(changed: () => void): Promise<void> {
    const reading = new AbortController()
    this.#reading = reading
    const { signal } = reading
    const { runId } = this.#head
    try {
      this.#transcript ??= await this.#ask(signal)
      if (!isEnded(this.#head.status)) this.shown = this.#transcript
      const after = this.#transcript.seq
      for await (const event of await this.#client.runs.events(runId, { after, reconnects: 0, signal })) {
        this.#transcript.add(event)
        if (this.shown !== undefined) changed()
      }
    } catch (error) {
      // The list may report the end of a pause late or early.
      if (signal.aborted || this.status !== undefined) return
      if (isUnreachable(error)) throw error
      this.#transcript ??= new Transcript('', this.#head.agentId)
      this.#transcript.fail(describeError(error))
    } finally {
      if (this.#reading === reading) this.#reading = undefined
    }
    this.shown = this.#transcript
  }

  close(): void {
    this.#reading?.abort()
    this.#reading = undefined
  }

  async #ask(signal: AbortSignal): Promise<Transcript> {
    const { messages } = await this.#client.runs.get(this.#head.runId, { signal })
    const asked = messages.filter(({ role }) => role === 'user').map(({ parts }) => saidIn(parts))
    return new Transcript(clip(asked.join('\n'), maxAskedChars), this.#head.agentId)
  }
}

export function isUnreachable(error: unknown): boolean {
  return isAppError(error) && (error.code === 'unavailable' || error.code === 'timeout')
}

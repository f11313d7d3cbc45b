import type { OutputInterface } from 'ai'
import type { Json } from '../../core/json.ts'
import { isDeeper } from '../../runtime/json-size.ts'
import { jsonText } from '../base/json-value.ts'

const everyMs = 100
/** Reading costs at most a part of the time like this, however long the answer is. */
const restPerRead = 10
/** Deeper data can't be an answer. */
const deepest = 500

/** What a model's answer is so far. Each reading takes the whole text, so it is done only now and then. */
export class PartialData {
  readonly #output: OutputInterface
  readonly #now: () => number
  #dueAt = Number.NEGATIVE_INFINITY
  #last: string | undefined

  constructor(output: OutputInterface, now: () => number = () => performance.now()) {
    this.#output = output
    this.#now = now
  }

  isDue(): boolean {
    return this.#now() >= this.#dueAt
  }

  /** The data in the text; undefined when it is the same as last time, or the text is no beginning of an answer. */
  async read(text: string): Promise<Json | undefined> {
    const startedAt = this.#now()
    const json = await this.#parse(text)
    const isNew = json !== undefined && json !== this.#last
    if (isNew) this.#last = json
    const data = isNew ? (JSON.parse(json) as Json) : undefined
    const endedAt = this.#now()
    this.#dueAt = endedAt + Math.max(everyMs, restPerRead * (endedAt - startedAt))
    return data
  }

  /** An output of the user's own may throw; only the whole answer fails the run. */
  async #parse(text: string): Promise<string | undefined> {
    try {
      const found = await this.#output.parsePartialOutput({ text })
      return found === undefined || isDeeper(found.partial, deepest) ? undefined : jsonText(found.partial)
    } catch {
      return undefined
    }
  }
}

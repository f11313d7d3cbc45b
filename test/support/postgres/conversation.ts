import { asksForEncryption, type Frame, Frames, readStrings } from './frames.ts'

/** A frame with the SQL of its request; of an answer, the SQL of all statements up to their Sync. */
export interface Said extends Frame {
  statements: readonly string[]
}

/** Knows which statement each frame of one connection belongs to. A prepared statement is known by its text. */
export class Conversation {
  readonly #asked = new Frames('client')
  readonly #answered = new Frames('server')
  readonly #prepared = new Map<string, string>()
  #open: string[] = []
  // What is answered with ReadyForQuery, the oldest first. The first one is the login.
  readonly #waiting: string[][] = [[]]

  ask(chunk: Buffer): Said[] {
    return [...this.#asked.push(chunk)].map((frame) => ({ ...frame, statements: this.#asks(frame) }))
  }

  answer(chunk: Buffer): Said[] {
    return [...this.#answered.push(chunk)].map((frame) => {
      const statements = this.#waiting[0] ?? []
      if (frame.type === 'Z') this.#waiting.shift()
      return { ...frame, statements }
    })
  }

  #asks({ type, body }: Frame): string[] {
    if (type === '' && asksForEncryption(body)) this.#answered.expectLoneByte()
    if (type === 'P') return this.#prepare(body)
    if (type === 'S') this.#close()
    const statement = this.#statementOf(type, body)
    if (statement === undefined) return []
    this.#open.push(statement)
    if (type === 'Q') this.#close()
    return [statement]
  }

  #prepare(body: Buffer): string[] {
    const [name = '', text = ''] = readStrings(body, 2)
    this.#prepared.set(name, text)
    return []
  }

  #statementOf(type: string, body: Buffer): string | undefined {
    if (type === 'Q') return readStrings(body, 1)[0]
    return type === 'B' ? this.#prepared.get(readStrings(body, 2)[1] ?? '') : undefined
  }

  #close(): void {
    this.#waiting.push(this.#open)
    this.#open = []
  }
}

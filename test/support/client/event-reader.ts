export interface ReadEvent {
  type: string
  seq: number
  text?: string
  status?: string
}

/** A reader of one run's events: it keeps what it has received whole, and knows nothing else. */
export class EventReader {
  /** Of the server; another one after a restart. */
  url: string
  readonly runId: string
  readonly events: ReadEvent[] = []
  /** How often it stopped before the end. */
  cuts = 0

  constructor(url: string, runId: string) {
    this.url = url
    this.runId = runId
  }

  get ended(): boolean {
    const last = this.events.at(-1)?.type
    return last === 'run_end' || last === 'run_error'
  }

  get text(): string {
    return this.events.map((event) => event.text ?? '').join('')
  }

  /** The numbers that are missing before the last event; that one may come under any higher number after a crash. */
  get gaps(): number[] {
    const seen = new Set(this.events.map(({ seq }) => seq))
    const last = this.events.at(-2)?.seq ?? 0
    return Array.from({ length: last }, (_, index) => index + 1).filter((seq) => !seen.has(seq))
  }

  /** The numbers that came again, or after a higher one. */
  get twice(): number[] {
    return this.events.flatMap(({ seq }, place) => (seq <= (this.events[place - 1]?.seq ?? 0) ? [seq] : []))
  }

  /** Reads on from where it was until so many bytes have come, wherever in an event that is, or until the end. */
  async read(bytes: number): Promise<void> {
    const leaving = new AbortController()
    const last = this.events.at(-1)?.seq
    try {
      const answer = await fetch(`${this.url}/api/v1/runs/${this.runId}/events`, {
        headers: last === undefined ? {} : { 'Last-Event-ID': `${last}` },
        signal: leaving.signal,
      })
      if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
      let text = ''
      let left = bytes
      const decoder = new TextDecoder()
      for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(chunk.subarray(0, left), { stream: true })
        left -= chunk.length
        const frames = text.split('\n\n')
        text = frames.pop() ?? ''
        for (const frame of frames) this.#take(frame)
        if (left <= 0) break
      }
    } catch (error) {
      // What fetch throws when the connection fails.
      if (!(error instanceof TypeError)) throw error
    } finally {
      leaving.abort()
      if (!this.ended) this.cuts++
    }
  }

  async readToEnd(): Promise<void> {
    while (!this.ended) await this.read(Number.POSITIVE_INFINITY)
  }

  #take(frame: string): void {
    const field = (name: string) =>
      frame
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2)
    const data = field('data')
    if (data === undefined) return
    const event = JSON.parse(data) as ReadEvent
    if (field('id') !== `${event.seq}`) throw new Error(`the event ${event.seq} has the id ${field('id')}`)
    this.events.push(event)
  }
}

import { connect, type Socket } from 'node:net'
import { Conversation, type Said } from './conversation.ts'
import { Lane } from './lane.ts'

export type Side = 'both' | 'client' | 'server'

/** What the proxy does to the next statement that matches, on the first connection that has it. */
export interface Loss {
  what: 'request' | 'answer'
  of: RegExp
  done(): void
}

/** What all connections of a proxy have in common at the moment. */
export interface Weather {
  delayMs: number
  stalled: boolean
  loss: Loss | undefined
  /** Bytes of answers that still pass, of all connections together. */
  passing: number
  dropped: () => void
}

/** One connection through the proxy: two sockets that know nothing of each other. */
export class Proxied {
  readonly #client: Socket
  readonly #server: Socket
  readonly #weather: Weather
  readonly #conversation = new Conversation()
  readonly #asking: Lane
  readonly #answering: Lane
  readonly #held: Said[] = []
  #cut = false

  constructor(client: Socket, target: { host: string; port: number }, weather: Weather, closed: () => void) {
    this.#client = client
    this.#weather = weather
    this.#server = connect({ ...target, noDelay: true })
    this.#asking = new Lane(client, this.#server)
    this.#answering = new Lane(this.#server, client)
    client.on('data', (chunk) => this.#ask(chunk))
    this.#server.on('data', (chunk) => this.#answer(chunk))
    client.on('end', () => this.#asking.pass('end'))
    this.#server.on('end', () => this.#answering.pass('end'))
    for (const socket of [client, this.#server]) {
      // A socket that fails closes, and that is seen below.
      socket.on('error', () => undefined)
      socket.on('close', () => {
        if (!this.#cut && socket.errored) this.cut('both')
        if (client.closed && this.#server.closed) closed()
      })
    }
    this.adjust()
  }

  adjust(): void {
    for (const lane of [this.#asking, this.#answering]) {
      lane.delayMs = this.#weather.delayMs
      if (this.#weather.stalled || this.#cut) lane.stall()
      else lane.go()
    }
  }

  /** The other side hears nothing of it and waits, until both are cut. */
  cut(side: Side): void {
    this.#cut = true
    this.#asking.close()
    this.#answering.close()
    this.adjust()
    if (side !== 'server') this.#client.resetAndDestroy()
    if (side !== 'client') this.#server.resetAndDestroy()
  }

  /** Closes the side that `cut` has left. */
  cutRest(): void {
    if (this.#cut) this.cut('both')
  }

  #ask(chunk: Buffer): void {
    const passing: Buffer[] = []
    for (const said of this.#conversation.ask(chunk)) {
      if (this.#loses('request', said)) {
        this.#lose(passing)
        return
      }
      passing.push(said.bytes)
    }
    this.#asking.pass(Buffer.concat(passing))
  }

  #answer(chunk: Buffer): void {
    const passing: Buffer[] = []
    for (const said of this.#conversation.answer(chunk)) {
      if (!this.#loses('answer', said)) passing.push(...this.#release(), said.bytes)
      else if (this.#hold(said)) {
        this.#lose(passing)
        return
      } else if (said.type === 'Z') passing.push(...this.#release())
    }
    this.#deliver(Buffer.concat(passing))
  }

  #loses(what: Loss['what'], said: Said): boolean {
    const loss = this.#weather.loss
    return loss?.what === what && said.statements.some((statement) => loss.of.test(statement))
  }

  /** True when the answer is complete and is one to lose: a statement that failed has done nothing. */
  #hold(said: Said): boolean {
    this.#held.push(said)
    return said.type === 'Z' && this.#held.every(({ type }) => type !== 'E')
  }

  #release(): Buffer[] {
    return this.#held.splice(0).map(({ bytes }) => bytes)
  }

  /** What came before reaches its receiver. */
  #lose(before: Buffer[]): void {
    const { loss } = this.#weather
    this.#weather.loss = undefined
    if (loss?.what === 'request') this.#asking.pass(Buffer.concat(before))
    else this.#deliver(Buffer.concat(before))
    this.#end()
    loss?.done()
  }

  #deliver(bytes: Buffer): void {
    const passing = bytes.subarray(0, this.#weather.passing)
    this.#weather.passing -= passing.length
    this.#answering.pass(passing)
    if (passing.length === bytes.length) return
    this.#weather.passing = Number.POSITIVE_INFINITY
    this.#end()
    this.#weather.dropped()
  }

  /** Both sides see the end after what has passed already. */
  #end(): void {
    this.#server.removeAllListeners('data').resume()
    this.#client.removeAllListeners('data').resume()
    this.#answering.pass('end')
    this.#asking.pass('end')
  }
}

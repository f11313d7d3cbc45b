import { connect, type Socket } from 'node:net'

/** One answer: its body as text, and how long it took from the call of `post`. */
export interface Answered {
  status: number
  text: string
  ms: number
  /** Until the first byte of the body. */
  firstMs: number
}

interface Waiting {
  resolve: (answer: Answered) => void
  reject: (error: Error) => void
  startedAt: number
}

const headEnd = '\r\n\r\n'

/**
 * One keep-alive connection to a server on the loopback: one request at a time, bodies in ASCII. It does as little as it can,
 * because on a small machine a client takes its processor time from the server that is measured.
 */
export class Connection {
  readonly #socket: Socket
  readonly #head: string
  #waiting: Waiting | undefined
  #received = ''
  #bodyAt = -1
  /** Where the body ends; -1 for chunked. */
  #endAt = -1
  #firstMs = 0

  constructor(url: URL, path: string, headers: Record<string, string> = {}) {
    const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const type = 'Content-Type: application/json\r\n'
    this.#head = `POST ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${more.join('')}${type}Content-Length: `
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (chunk: string) => this.#take(chunk))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  post(body: string): Promise<Answered> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the connection was closed'))
      this.#waiting = { resolve, reject, startedAt: performance.now() }
      this.#socket.write(`${this.#head}${body.length}${headEnd}${body}`, 'latin1')
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: string): void {
    this.#received += chunk
    if (this.#bodyAt < 0 && !this.#readHead()) return
    if (this.#firstMs === 0 && this.#received.length > this.#bodyAt && this.#waiting !== undefined) {
      this.#firstMs = performance.now() - this.#waiting.startedAt
    }
    if (this.#endAt < 0 ? this.#received.endsWith(`0${headEnd}`) : this.#received.length >= this.#endAt) this.#finish()
  }

  #readHead(): boolean {
    const end = this.#received.indexOf(headEnd)
    if (end < 0) return false
    this.#bodyAt = end + headEnd.length
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#received.slice(0, end))?.[1]
    this.#endAt = length === undefined ? -1 : this.#bodyAt + Number(length)
    return true
  }

  #finish(): void {
    const waiting = this.#waiting
    const text = this.#received.slice(this.#bodyAt)
    const status = Number(this.#received.slice(9, 12))
    const firstMs = this.#firstMs
    this.#waiting = undefined
    this.#received = ''
    this.#bodyAt = -1
    this.#firstMs = 0
    waiting?.resolve({ status, text, ms: performance.now() - waiting.startedAt, firstMs })
  }

  #fail(error: Error): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(error)
  }
}

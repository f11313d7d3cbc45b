import type { JSONRPCMessage, MCPTransport, MCPTransportSendOptions } from '@ai-sdk/mcp'
import { tooLong } from './message-size.ts'
import type { McpChild } from './process.ts'

/** JSON-RPC over a child's stdin and stdout, one message per line. */
export interface StdioOptions {
  onNotification: (method: string) => void
  /** Maximum size of one message. */
  messageBytes: number
  /** Called with the reason; the transport stops reading. */
  onTooLong: (why: string) => void
}

export class StdioTransport implements MCPTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #child: McpChild
  readonly #options: StdioOptions
  #pieces: Buffer[] = []
  #length = 0
  #isOver = false

  constructor(child: McpChild, options: StdioOptions) {
    this.#child = child
    this.#options = options
  }

  async start(): Promise<void> {
    this.#child.output?.on('data', (chunk: Buffer) => this.#read(chunk))
    void this.#child.ended.then(() => this.onclose?.())
  }

  async send(message: JSONRPCMessage, options?: MCPTransportSendOptions): Promise<void> {
    const { signal } = options ?? {}
    signal?.throwIfAborted()
    await this.#child.write(`${JSON.stringify(message)}\n`)
    if (!('method' in message) || message.method !== 'tools/call' || !('id' in message)) return
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: message.id } }
    const tell = () => void this.#child.write(`${JSON.stringify(cancelled)}\n`).catch(() => {})
    signal?.addEventListener('abort', tell, { once: true })
  }

  close(): Promise<void> {
    return this.#child.close()
  }

  #read(chunk: Buffer): void {
    const { messageBytes, onTooLong } = this.#options
    let start = 0
    for (let end = chunk.indexOf('\n'); end >= 0 && !this.#isOver; end = chunk.indexOf('\n', start)) {
      this.#hold(chunk.subarray(start, end))
      const message = this.#pieces
      start = end + 1
      if (this.#length > messageBytes) break
      this.#pieces = []
      this.#length = 0
      this.#take(Buffer.concat(message).toString('utf8'))
    }
    if (this.#isOver) return
    if (this.#length <= messageBytes) this.#hold(chunk.subarray(start))
    if (this.#length <= messageBytes) return
    this.#isOver = true
    this.#pieces = []
    onTooLong(tooLong(messageBytes))
  }

  #hold(piece: Buffer): void {
    if (piece.length === 0) return
    this.#pieces.push(piece)
    this.#length += piece.length
  }

  #take(line: string): void {
    try {
      const message: unknown = JSON.parse(line)
      if (typeof message !== 'object' || message === null || !('jsonrpc' in message)) return
      if ('method' in message && !('id' in message)) this.#options.onNotification(String(message.method))
      else this.onmessage?.(message as JSONRPCMessage)
    } catch {
      // Not a message: printed text, or the answer to a request that was given up.
    }
  }
}

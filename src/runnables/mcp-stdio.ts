import { StringDecoder } from 'node:string_decoder'
import type { JSONRPCMessage, MCPTransport, MCPTransportSendOptions } from '@ai-sdk/mcp'
import type { McpChild } from './mcp-process.ts'

/** Of one message; a server that sends more is out of its mind. */
const longestMessage = 32 * 1024 * 1024

/** JSON-RPC over a child's stdin and stdout, a message a line. */
export class StdioTransport implements MCPTransport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #child: McpChild
  readonly #onNotification: (method: string) => void
  #pieces: string[] = []
  #length = 0

  constructor(child: McpChild, onNotification: (method: string) => void) {
    this.#child = child
    this.#onNotification = onNotification
  }

  async start(): Promise<void> {
    const decoder = new StringDecoder('utf8')
    this.#child.output?.on('data', (chunk: Buffer) => this.#read(decoder.write(chunk)))
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

  #read(text: string): void {
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#pieces.push(text.slice(start, end))
      const line = this.#pieces.join('')
      this.#pieces = []
      this.#length = 0
      start = end + 1
      this.#take(line)
    }
    this.#pieces.push(text.slice(start))
    this.#length += text.length - start
    if (this.#length <= longestMessage) return
    this.#pieces = []
    this.#length = 0
    this.onerror?.(new Error(`it sent a message of more than ${longestMessage} characters`))
    void this.close()
  }

  #take(line: string): void {
    try {
      const message: unknown = JSON.parse(line)
      if (typeof message !== 'object' || message === null || !('jsonrpc' in message)) return
      if ('method' in message && !('id' in message)) this.#onNotification(String(message.method))
      else this.onmessage?.(message as JSONRPCMessage)
    } catch {
      // Not a message: something that was printed, or an answer to a question that is no longer asked.
    }
  }
}

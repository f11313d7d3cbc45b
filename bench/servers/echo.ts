import { randomUUID } from 'node:crypto'
import { listen, readText } from './listen.ts'

/** The least that an answer to `sendMessage` can cost: a request and an answer of the same shape on bare node:http. */

interface SendRequest {
  id: string
  params: { message: { agentId: string; contextId?: string; parts: { type: 'text'; content: string }[] } }
}

listen((request, response) => {
  readText(request, (text) => {
    const { id, params } = JSON.parse(text) as SendRequest
    const { agentId, contextId = randomUUID(), parts } = params.message
    const message = { messageId: randomUUID(), role: 'assistant', agentId, contextId, parts }
    const task = { taskId: randomUUID(), status: 'completed', messages: [message] }
    const body = JSON.stringify({ jsonrpc: '2.0', id, result: { task } })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    response.end(body)
  })
})

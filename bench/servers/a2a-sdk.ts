import { randomUUID } from 'node:crypto'
import { type AgentCard, type Part, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server'
import { fragment } from '../fragment.ts'
import { listen, readText } from './listen.ts'

/** The A2A SDK's own server, tasks in memory, on node:http without a framework between; its text says how many fragments. */

const card: AgentCard = {
  name: 'bench',
  description: 'As many fragments as the text says.',
  supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
  provider: undefined,
  version: '1.0.0',
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
}

const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
})

const executor: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: new Date().toISOString() })
    const own = { taskId, contextId, metadata: undefined }
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_WORKING),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    )
    const content = userMessage.parts[0]?.content
    const count = content?.$case === 'text' ? Number(content.value) : 1
    const artifactId = randomUUID()
    for (let index = 0; index < count; index++) {
      const parts = [textPart(fragment(index))]
      const artifact = { artifactId, name: 'answer', description: '', parts, metadata: undefined, extensions: [] }
      bus.publish(AgentEvent.artifactUpdate({ ...own, artifact, append: index > 0, lastChunk: index === count - 1 }))
    }
    bus.publish(AgentEvent.statusUpdate({ ...own, status: status(TaskState.TASK_STATE_COMPLETED) }))
    bus.finished()
  },
  async cancelTask() {},
}

const transport = new JsonRpcTransportHandler(new DefaultRequestHandler(card, new InMemoryTaskStore(), executor))

listen((request, response) => {
  readText(request, async (text) => {
    const answer = await transport.handle(text, new ServerCallContext({ requestedVersion: '1.0' }))
    if (!(Symbol.asyncIterator in answer)) {
      const body = JSON.stringify(answer)
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
      response.end(body)
      return
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    for await (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`)
    response.end()
  })
})

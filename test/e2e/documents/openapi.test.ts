import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { offlineSummarizer } from '../../../src/models/summarizer.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { components } from '../../../src/wire/document/component.ts'
import { examples } from '../../../src/wire/document/examples.ts'
import { parseWhatwg } from '../../support/client/whatwg-sse.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

/* Every operation is driven from the document that the server gives, and every answer held against it. */

interface Content {
  [mediaType: string]: { schema: { $ref?: string } }
}
interface Operation {
  operationId: string
  summary?: string
  parameters?: { name: string; in: string; required?: boolean; description?: string }[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, { description: string; content?: Content }>
}
interface Described extends Operation {
  path: string
  method: string
}

let server: RunningTestServer
let operations: Described[]
let validatorOf: (pointer: string) => ValidateFunction
const ids: Record<string, string> = {}

beforeAll(async () => {
  server = await startServer(
    {
      studio: { again: true },
      a2a: { defaultAgent: 'echo' },
      summaryManager: { summarizer: offlineSummarizer(), timeoutMs: 30_000 },
    },
    {
      remembering: agent({
        memory: { user: true },
        run: async ({ user, text }) => (await user.remember(text)).content,
      }),
      asking: agent({
        async *run() {
          yield 'begun'
          await new Promise(() => {})
        },
      }),
    },
    { schedules: { nightly: { cron: '0 0 1 1 *', agent: 'echo', input: 'hello' } } },
  )
  const { json: document } = await server.call('GET', '/openapi.json')
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(document, 'document')
  validatorOf = (pointer) => ajv.compile({ $ref: `document#${pointer}` })
  operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  )
})
afterAll(() => server.close())

const escapePointer = (text: string) => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))

/** What is wrong with an answer, by the document. */
function check(operation: Described, status: number, contentType: string, text: string): string[] {
  const response = operation.responses[status]
  if (response === undefined) return [`status ${status} is not described: ${text.slice(0, 200)}`]
  const mediaType = contentType.split(';')[0] ?? ''
  if (response.content === undefined) return text === '' ? [] : [`there is a body where none is described: ${text}`]
  if (response.content[mediaType] === undefined) return [`${mediaType} is not described for ${status}`]
  const place = [operation.path, operation.method, 'responses', String(status), 'content', mediaType, 'schema']
  const validate = validatorOf(`/paths/${place.map(escapePointer).join('/')}`)
  const values = mediaType.endsWith('ndjson')
    ? text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : mediaType.includes('json')
      ? [JSON.parse(text)]
      : mediaType === 'text/event-stream'
        ? parseWhatwg(text).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]))
        : [text]
  return values.flatMap((value) =>
    validate(value) ? [] : [`${JSON.stringify(value).slice(0, 300)}: ${JSON.stringify(validate.errors?.slice(0, 3))}`],
  )
}

/** Makes what an operation is about, so that no operation depends on another. */
async function prepare({ path, operationId }: Described): Promise<void> {
  const run = async (agentId: string, background: boolean) =>
    (await server.call('POST', `/api/v1/agents/${agentId}/run`, { input: 'hello', background })).json
  if (path.includes('/sessions/{id}')) {
    ids.id = (await run('echo', false)).session_id
    if (path.includes('/shared/')) {
      ids.kind = 'agent'
      ids.owner_id = 'echo'
      await server.call('POST', `/api/v1/sessions/${ids.id}/reuse`, { agent_id: 'asking' })
    }
    if (operationId === 'getSummary') await server.call('POST', `/api/v1/sessions/${ids.id}/summary`)
    if (operationId === 'getFile') {
      const file = { type: 'file', media_type: 'text/plain', data: btoa('a file') }
      const body = { input: { parts: [file] }, session_id: ids.id }
      const { messages } = (await server.call('POST', '/api/v1/agents/echo/run', body)).json
      ids.file_id = messages[0].parts[0].file_id
    }
  } else if (operationId === 'restoreRun') {
    const { run_id, session_id } = await run('echo', false)
    ids.id = run_id
    await server.call('POST', '/api/v1/agents/echo/run', { input: 'another', session_id, replaces: run_id })
  } else if (operationId === 'keepRun') {
    const { run_id } = await run('echo', false)
    const { runs } = (await server.call('POST', `/api/v1/runs/${run_id}/again`, { after: 'live' })).json
    ids.id = runs[0].run_id
    await server.call('GET', `/api/v1/runs/${ids.id}/events`)
  } else if (operationId === 'cancelRun') ids.id = (await run('asking', true)).run_id
  else if (path.includes('/runs/{id}')) ids.id = (await run('echo', false)).run_id
  else if (path.includes('/chat/')) {
    ids.agent = 'echo'
    ids.chat_id = (await run('echo', false)).session_id
  } else if (path.includes('/ag-ui/')) {
    ids.agent = 'echo'
    ids.thread_id = (await run('echo', false)).session_id
  } else if (path.startsWith('/v1/')) {
    const { run_id, session_id } = await run('echo', false)
    ids.response_id = run_id.replace('run_', 'resp_')
    ids.conversation_id = session_id
    ids.model = 'echo'
  } else if (operationId === 'changeTaskOfA2AAgent') {
    ids.id = 'asking'
    ids.task = `${(await run('asking', true)).run_id}:cancel`
  } else if (path.includes('{task}')) {
    ids.id = 'echo'
    ids.task = (await run('echo', false)).run_id
  } else if (path.includes('/schedules/{id}')) ids.id = 'nightly'
  else if (path.includes('/agents/{id}')) ids.id = 'echo'
  else if (path.includes('/documents/{id}') || path.includes('/chunks/{id}')) {
    const content = { content: `A text about ${operationId}.`, source: operationId }
    const { document_id, chunk_ids } = (await server.call('POST', '/api/v1/knowledge/content', content)).json
    ids.id = path.includes('/chunks/{id}') ? chunk_ids[0] : document_id
  }
  if (path.includes('/facts')) {
    ids.user_id = 'ann'
    await server.call('POST', '/api/v1/agents/remembering/run', { input: operationId, user_id: 'ann' })
    ids.fact_id = (await server.call('GET', '/api/v1/users/ann/facts')).json.facts[0].fact_id
  }
  ids.file = 'swagger-ui.css'
  if (operationId === 'getStudioAsset') {
    const page = await server.call('GET', '/studio')
    ids.file = /assets\/([^"]+\.css)/.exec(page.text)?.[1] ?? 'none'
  }
}

/** What operations take that can't be made from the document alone. */
const queries: Record<string, string> = { searchMessages: '?q=hello', importSession: '?new_ids=true' }

/** With its media type. */
async function bodyOf({ requestBody }: Described): Promise<[body?: unknown, headers?: Record<string, string>]> {
  if (requestBody === undefined) return []
  if (requestBody.content['application/x-ndjson'] === undefined) return [exampleOf(requestBody.content)]
  const { session_id } = (await server.call('POST', '/api/v1/agents/echo/run', { input: 'hello' })).json
  const { text } = await server.call('GET', `/api/v1/sessions/${session_id}/export`)
  return [text, { 'content-type': 'application/x-ndjson' }]
}

const exampleOf = (content: Content): unknown => {
  const name = content['application/json']?.schema.$ref?.split('/').at(-1) ?? ''
  return examples[name]
}

const fill = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'none'))

describe('the document', () => {
  test('says of every operation what it is, and of every parameter what it does', () => {
    expect(operations.length).toBeGreaterThan(30)
    for (const { operationId, summary, parameters = [], responses } of operations) {
      expect([operationId, summary]).toEqual([operationId, expect.stringMatching(/\S/)])
      for (const parameter of parameters) expect(['path', 'query', 'header']).toContain(parameter.in)
      for (const [status, { description }] of Object.entries(responses))
        expect([status, description]).not.toEqual([status, ''])
    }
  })

  test('has an example for each body, and each is of its shape', () => {
    const names = new Set<string>()
    for (const { requestBody, responses } of operations) {
      for (const { content = {} } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)]) {
        for (const { schema } of Object.values(content))
          if (schema.$ref !== undefined) names.add(schema.$ref.split('/').at(-1) ?? '')
      }
    }
    expect([...names].filter((name) => !(name in examples))).toEqual([])
    const shapes = new Map([...components._idmap].map(([name, schema]) => [name, schema]))
    for (const [name, example] of Object.entries(examples)) {
      const validate = validatorOf(`/components/schemas/${name}`)
      expect([name, validate(example), validate.errors]).toEqual([name, true, null])
      expect([name, shapes.has(name)]).toEqual([name, true])
    }
  })

  test('describes the answer of every operation, made from its example', async () => {
    const statuses: Record<string, number> = {}
    for (const operation of operations) {
      await prepare(operation)
      const { method, path, requestBody, operationId } = operation
      const [body, headers] = await bodyOf(operation)
      if (requestBody?.required) expect([operationId, body]).not.toEqual([operationId, undefined])
      const required = (operation.parameters ?? []).filter(
        (parameter) => parameter.in === 'query' && parameter.required,
      )
      const query = queries[operationId] ?? ''
      expect(required.filter(({ name }) => !query.includes(`${name}=`))).toEqual([])
      const answer = await server.call(method.toUpperCase(), fill(path) + query, body, headers)
      statuses[operationId] = answer.status
      expect([
        operationId,
        check(operation, answer.status, answer.headers.get('content-type') ?? '', answer.text),
      ]).toEqual([operationId, []])
    }
    // A run that has ended can't be resumed, and A2A has no push notifications and extended cards; all else succeeds.
    const { resumeRun, ...others } = statuses
    expect(resumeRun).toBe(409)
    for (const operationId of Object.keys(others).filter((name) => /(?:Push|ExtendedCard)OfA2AAgent$/.test(name))) {
      expect([operationId, others[operationId]]).toEqual([operationId, 400])
      delete others[operationId]
    }
    expect(Object.entries(others).filter(([, status]) => status >= 400)).toEqual([])
  })

  test('describes the refusal of every operation that something can be missing from', async () => {
    // That there is nothing of a user is no refusal, nor that nothing runs in a chat.
    const findable = operations.filter(
      ({ path, operationId }) =>
        path.includes('{') && !path.includes('{user_id}') && !/^(?:stream|stop)Chat$/.test(operationId),
    )
    for (const operation of findable) {
      ids.id = 'none'
      ids.task = 'none'
      ids.agent = 'none'
      ids.chat_id = 'none'
      ids.thread_id = 'none'
      ids.response_id = 'none'
      ids.conversation_id = 'none'
      ids.model = 'none'
      ids.file = 'none'
      const body = operation.requestBody === undefined ? undefined : exampleOf(operation.requestBody.content)
      const answer = await server.call(operation.method.toUpperCase(), fill(operation.path), body)
      expect([operation.operationId, answer.status]).toEqual([operation.operationId, 404])
      const wrong = check(operation, answer.status, answer.headers.get('content-type') ?? '', answer.text)
      expect([operation.operationId, wrong]).toEqual([operation.operationId, []])
    }
    for (const operation of operations.filter(({ requestBody }) => requestBody !== undefined)) {
      await prepare(operation)
      const headers = { 'content-type': 'application/json' }
      const answer = await server.call(operation.method.toUpperCase(), fill(operation.path), '{"broken":', headers)
      const wrong = check(operation, answer.status, answer.headers.get('content-type') ?? '', answer.text)
      expect([operation.operationId, wrong]).toEqual([operation.operationId, []])
    }
  })

  test('describes every event of a stream', async () => {
    const streams = operations.filter(({ responses }) => responses[200]?.content?.['text/event-stream'] !== undefined)
    expect(streams.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining(['runAgent', 'streamAgent', 'followRun', 'streamMessage']),
    )
    for (const operation of streams) {
      await prepare(operation)
      const accept = { accept: 'text/event-stream' }
      // These stream when the task's id ends in `:subscribe`, or while a chat is answered.
      if (/^(?:(?:get|change)TaskOfA2AAgent|streamChat)$/.test(operation.operationId)) continue
      const body =
        operation.operationId === 'callA2AAgent'
          ? { ...(examples.A2ARpcRequest as object), method: 'SendStreamingMessage' }
          : operation.operationId === 'streamMessage'
            ? { ...(examples.JSONRPC2Request as object), method: 'streamMessage' }
            : operation.requestBody && exampleOf(operation.requestBody.content)
      // OpenAI's say it themselves.
      const isTold = operation.path.startsWith('/v1/')
      const told = isTold && body !== undefined ? { ...(body as object), stream: true } : body
      const path = fill(operation.path) + (isTold && body === undefined ? '?stream=true' : '')
      const answer = await server.call(operation.method.toUpperCase(), path, told, accept)
      if (operation.operationId === 'resumeRun') continue
      expect([operation.operationId, answer.headers.get('content-type')]).toEqual([
        operation.operationId,
        'text/event-stream',
      ])
      // Of a stream without an end, only the greeting is read.
      expect(parseWhatwg(answer.text).length).toBeGreaterThan(operation.operationId === 'live' ? 0 : 1)
      const wrong = check(operation, answer.status, 'text/event-stream', answer.text)
      expect([operation.operationId, wrong]).toEqual([operation.operationId, []])
    }
  })
})

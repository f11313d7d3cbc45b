import { setTimeout as sleep } from 'node:timers/promises'
import { assertContent, type Client, fragments, sessionRequest, untilEnded } from './asking.ts'
import type { Balanced } from './balanced.ts'
import { between } from './random.ts'
import type { ToldRun } from './told.ts'

/* Clients of the other protocols: they send again what got no answer, and look on whichever instance answers. */

/** From the prefix of the API to the root, where OpenAI's and MCP's addresses are. */
const root = '/../..'
const patienceMs = 75_000

/** Streams an answer as `useChat` does; when that breaks, it reads the chat again until the answer is there. */
const chat: Client = async (client, name) => {
  const { told } = client
  const run = told.run(name, 'ticking', name)
  const count = between(client.random, 10, 100)
  const text = `${count} 10 ${name}`
  const message = { id: `asked-${name}`, role: 'user', parts: [{ type: 'text', text }] }
  const streamed = await streamChat(client, run, { id: name, messages: [message], trigger: 'submit-message' })
  if (run.runId === undefined) return
  if (streamed?.isWhole) assertContent(client, run, streamed.text, fragments(count))
  await untilEnded(client, run)
  const read = await client.ask('chat', { path: `/chat/ticking/${name}` })
  if (read === undefined) return
  const [, answer] = (read.body?.messages ?? []) as { parts: { type: string; text?: string }[] }[]
  const kept = answer?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  if (run.end === 'completed') assertContent(client, run, kept, fragments(count))
}

interface Streamed {
  text: string
  /** It came to its end, and that was a good one. */
  isWhole: boolean
}

async function streamChat(client: Balanced, run: ToldRun, body: object): Promise<Streamed | undefined> {
  const { told } = client
  const fromMs = performance.now()
  while (!told.over && performance.now() - fromMs < patienceMs) {
    try {
      const answer = await fetch(`${client.url}/api/v1/chat/ticking`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(patienceMs),
      })
      told.count(`chat stream: ${answer.status}`)
      told.named(run, answer.headers.get('x-run-id'))
      const text = await answer.text()
      if (answer.status === 200) return { text: deltasOf(text), isWhole: text.includes('"finishReason":"stop"') }
      if (![409, 503, 507].includes(answer.status)) told.wrong(`${run.name} got ${answer.status} ${text.slice(0, 300)}`)
    } catch {
      told.count('chat stream: none')
    }
    if (run.runId !== undefined) return undefined
    told.repeats++
    await sleep(150)
  }
  told.wrong(`${run.name} could not be started`)
  return undefined
}

function deltasOf(stream: string): string {
  return [...stream.matchAll(/^data: (\{"type":"text-delta".*)$/gm)]
    .map(([, json = '']) => (JSON.parse(json) as { delta: string }).delta)
    .join('')
}

/** A task of the official A2A: the same `messageId` again is the same task. */
const task: Client = async (client, name) => {
  const run = client.told.run(name, 'ticking', name)
  const count = between(client.random, 1, 100)
  const message = { messageId: name, contextId: name, role: 'ROLE_USER', parts: [{ text: `${count} 10 ${name}` }] }
  const path = '/a2a/agents/ticking'
  const call = (method: string, params: object) => ({ path, body: { jsonrpc: '2.0', id: '1', method, params } })
  const sent = await client.ask('task', call('SendMessage', { message }))
  const id = sent?.body?.result?.task?.id
  if (sent === undefined) return
  if (id === undefined) return client.told.wrong(`${name} got ${JSON.stringify(sent.body)?.slice(0, 300)}`)
  client.told.named(run, id)
  await untilEnded(client, run)
  const read = await client.ask('get task', call('GetTask', { id }))
  if (read === undefined || run.end !== 'completed') return
  const { artifacts = [] } = read.body?.result ?? {}
  const text = (artifacts as { parts: { text?: string }[] }[]).flatMap(({ parts }) => parts.map((part) => part.text))
  assertContent(client, run, text.join(''), fragments(count))
}

/** A response in the background. Without an answer nobody knows whether it was taken, so a second one may be made. */
const response: Client = async (client, name) => {
  const { told } = client
  const body = { model: 'echo', input: name, background: true }
  const taken = await client.ask('response', { path: `${root}/v1/responses`, body })
  if (taken === undefined) return
  const id = taken.body?.id
  if (id === undefined) return told.wrong(`${name} got ${taken.status} ${JSON.stringify(taken.body)?.slice(0, 300)}`)
  const fromMs = performance.now()
  while (!told.over && performance.now() - fromMs < patienceMs) {
    const read = await client.ask('get response', { path: `${root}/v1/responses/${id}` })
    if (read === undefined) return
    const { status, output = [] } = read.body ?? {}
    if (status === 'completed') {
      const parts = (output as { content?: { text?: string }[] }[]).flatMap(({ content = [] }) => content)
      const text = parts.map((part) => part.text ?? '').join('')
      if (text !== name) told.wrong(`${name} (${id}) answered ${text.slice(0, 200)}`)
      return
    }
    // Its instance was killed.
    if (['failed', 'incomplete', 'cancelled'].includes(status)) return
    if (read.status !== 200) return told.wrong(`${name} (${id}) is ${read.status}`)
    await sleep(200)
  }
  told.wrong(`${name} (${id}) never ended`)
}

/** A host of MCP looks at a run that a client has made. */
const host: Client = async (client, name) => {
  const created = await client.ask('create', sessionRequest(name))
  if (created?.status !== 201) return
  const made = await client.ask('run', {
    path: '/agents/echo/run',
    headers: { 'idempotency-key': name },
    body: { input: name, session_id: name },
  })
  const runId = made?.body?.run_id
  if (made?.status !== 200) return
  const params = { name: 'get_run', arguments: { run_id: runId } }
  const fromMs = performance.now()
  while (!client.told.over) {
    const read = await client.ask('mcp', {
      path: `${root}/mcp`,
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    })
    if (read === undefined) return
    const text = JSON.stringify(read.body)
    // A tool says in words what other protocols say by Retry-After.
    const mayRetry = text.includes('Retry in a moment') && performance.now() - fromMs < patienceMs
    if (!mayRetry && (!text.includes(runId) || text.includes('isError')))
      client.told.wrong(`${name} (${runId}) over MCP is ${read.status} ${text.slice(0, 300)}`)
    if (!mayRetry) return
    await sleep(200)
  }
}

export const protocols: Record<string, Client> = { chat, task, response, host }

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../src/core/error.ts'
import {
  assertContent,
  background,
  type Client,
  continues,
  fragments,
  jsonRpc,
  runToEnd,
  sessionRequest,
  untilEnded,
} from './asking.ts'
import type { Balanced } from './balanced.ts'
import { conversations } from './conversations.ts'
import { documents } from './documents.ts'
import { protocols } from './protocols.ts'
import { between, pick } from './random.ts'
import { readOn } from './reading.ts'
import type { ToldRun } from './told.ts'

const shared = 3

const send: Client = async (client, name) => {
  const run = client.told.run(name, 'echo', name)
  const message = { messageId: name, agentId: 'echo', contextId: name, parts: [{ type: 'text', content: name }] }
  const answer = await client.ask('send', { path: '/a2a/sendMessage', body: jsonRpc('sendMessage', message) })
  const task = answer?.body?.result?.task
  if (task === undefined) {
    if (answer !== undefined) client.told.wrong(`${name} got ${JSON.stringify(answer.body)?.slice(0, 300)}`)
    return
  }
  client.told.named(run, task.taskId)
  if (task.status !== 'completed') return
  const content = task.messages
    .flatMap(({ parts }: { parts: { content?: string }[] }) => parts.map((part) => part.content))
    .join('')
  assertContent(client, run, content, name)
  client.told.ended(run, 'completed', content)
}

/** Some clients share a session, whose runs wait for each other. */
const queue: Client = async (client, name) => {
  const run = client.told.run(name, 'ticking', `queue-${between(client.random, 1, shared)}`)
  const count = between(client.random, 1, 8)
  await runToEnd(client, run, fragments(count), { input: `${count} 5 ${name}` })
}

const refuse: Client = async (client, name) => {
  const run = client.told.run(name, 'ticking', `reject-${between(client.random, 1, shared)}`)
  await runToEnd(client, run, fragments(5), { input: `5 5 ${name}`, multitask_strategy: 'reject' })
}

const interrupt: Client = async (client, name) => {
  const run = client.told.run(name, 'ticking', `interrupt-${between(client.random, 1, shared)}`)
  await runToEnd(client, run, fragments(5), { input: `5 10 ${name}`, multitask_strategy: 'interrupt' })
}

/** Taken, and looked at later: now and then one after the other in a session, so that some wait. */
const inBackground: Client = async (client, name) => {
  const runs: ToldRun[] = []
  for (let count = between(client.random, 1, 3); count > 0; count--) {
    const run = client.told.run(`${name}-${count}`, 'ticking', runs.length === 0 ? undefined : `background-${name}`)
    runs.push(run)
    if (runs.length === 1) await client.ask('create', sessionRequest(`background-${name}`))
    run.sessionId = `background-${name}`
    await background(client, run, `${between(client.random, 5, 60)} 10 ${run.name}`)
  }
  for (const run of runs) if (run.runId !== undefined) await untilEnded(client, run)
}

const stream: Client = async (client, name) => {
  const run = client.told.run(name, 'ticking')
  const count = between(client.random, 20, 150)
  const first = await openStream(client, run, `${count} 10 ${name}`)
  if (run.runId === undefined) return
  await readOn(client, run, first)
  if (run.end !== 'completed') return
  const text = [...run.frames.values()].map((frame) => /"text":"([^"]*)"/.exec(frame)?.[1] ?? '').join('')
  assertContent(client, run, text, fragments(count))
}

/** Starts it, once, however often that must be asked for. Undefined: it was started, but not by the request that knows of it. */
async function openStream(client: Balanced, run: ToldRun, input: string): Promise<Response | undefined> {
  const { told } = client
  for (let tries = 0; !told.over && tries < 500; tries++) {
    try {
      const answer = await fetch(`${client.url}/api/v1/agents/ticking/run/stream`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': run.name },
        body: JSON.stringify({ input, ...continues }),
        signal: AbortSignal.timeout(75_000),
      })
      told.count(`stream: ${answer.status}`)
      told.named(run, answer.headers.get('x-run-id'))
      if (answer.status === 200) return answer
      const body = (await answer.json()) as { error?: { code: string; run_id?: string } }
      told.named(run, body.error?.run_id)
      if (run.runId !== undefined) return undefined
      if (![409, 503, 507].includes(answer.status)) told.wrong(`${run.name} got ${answer.status} ${body.error?.code}`)
    } catch {
      told.count('stream: none')
    }
    told.repeats++
    await sleep(150)
  }
  told.wrong(`${run.name} could not be started`)
  return undefined
}

const cancel: Client = async (client, name) => {
  const run = client.told.run(name, 'ticking')
  const runId = await background(client, run, `500 10 ${name}`)
  if (runId === undefined) return
  await sleep(between(client.random, 0, 600))
  const answer = await client.ask('cancel', { path: `/runs/${runId}/cancel`, body: {} })
  if (answer?.status === 200) client.told.ended(run, answer.body.status)
  else if (answer !== undefined && answer.body?.error?.code !== 'conflict')
    client.told.wrong(`cancelling ${name} (${runId}) got ${answer.status}`)
  await untilEnded(client, run)
}

/** Started, approved and, when the instance dies, resumed, each time wherever. */
const approve: Client = async (client, name) => {
  const { told } = client
  const run = told.run(name, 'order')
  const expected = `first of ${name}, second of ${name}`
  let status = await runToEnd(client, run, expected, { input: `${name} 30` })
  for (let turns = 0; turns < 300 && run.runId !== undefined && status !== 'completed'; turns++) {
    const body = { background: false, ...continues, ...(status === 'input_required' ? { approved: true } : {}) }
    if (status !== 'running') await client.ask('resume', { path: `/runs/${run.runId}/resume`, body })
    const found = await client.ask('get', { path: `/runs/${run.runId}` })
    if (found === undefined) return
    status = found.body?.status
    if (status === 'completed') {
      assertContent(client, run, found.body.content, expected)
      told.ended(run, 'completed', expected)
    } else if (found.status !== 200 || status === 'failed') {
      return told.wrong(`${name} (${run.runId}) is ${found.status} ${JSON.stringify(found.body?.error)}`)
    } else if (status === 'cancelled') return told.ended(run, status)
    else await sleep(200)
  }
  if (run.runId !== undefined && status !== 'completed') told.wrong(`${name} (${run.runId}) was not done: ${status}`)
}

/** The only one who changes this session, so that no tag is ever wrong. */
const count: Client = async (client, name) => {
  const { told } = client
  const created = await client.ask('create', { ...sessionRequest(name), body: { session_id: name, state: { n: 0 } } })
  if (created?.status !== 201) return told.wrong(`creating ${name} got ${JSON.stringify(created?.body)?.slice(0, 300)}`)
  const state = { kept: 0, maybe: 0 }
  told.states.set(name, state)
  for (let n = 1; n <= between(client.random, 3, 10); n++) {
    const found = await client.ask('get session', { path: `/sessions/${name}` })
    if (found === undefined) return
    const stored = found.body?.state?.n
    if (stored !== state.kept && stored !== state.maybe)
      return told.wrong(`${name} has the state ${stored}, not ${state.kept}`)
    state.kept = stored
    state.maybe = stored + 1
    let isUncertain = false
    const request = {
      path: `/sessions/${name}`,
      method: 'PUT',
      headers: { 'if-match': found.headers.get('etag') },
      body: { state: { n: stored + 1 } },
    }
    const changed = await client.ask('update', request, () => {
      isUncertain = true
    })
    if (changed?.status === 200) state.kept = state.maybe
    else if (changed?.status !== 412 || !isUncertain)
      return told.wrong(`changing ${name} got ${changed?.status} ${JSON.stringify(changed?.body)?.slice(0, 300)}`)
  }
}

const kinds: Record<string, Client> = {
  ...{ send, queue, refuse, interrupt, inBackground, stream, cancel, approve, count },
  ...conversations,
  ...documents,
  ...protocols,
}

/** What the clients share. */
export async function createShared(client: Balanced): Promise<void> {
  for (const kind of ['queue', 'reject', 'interrupt'])
    for (let number = 1; number <= shared; number++) await client.ask('create', sessionRequest(`${kind}-${number}`))
}

export interface Load {
  /** Ends when all clients have had their answers. */
  stop(): Promise<void>
}

/** So many clients, each with one thing after the other. */
export function startClients(clients: readonly Balanced[], rest: readonly [least: number, most: number]): Load {
  let stopped = false
  const names = Object.keys(kinds)
  const run = async (client: Balanced, number: number) => {
    for (let turn = 0; !stopped && !client.told.over; turn++) {
      // Each kind comes first on one of them, so that a short time has all.
      const kind = turn === 0 ? (names[number % names.length] as string) : pick(client.random, names)
      const name = `${kind}-${number}-${turn}`
      try {
        await kinds[kind]?.(client, name)
      } catch (error) {
        client.told.wrong(`${name}: ${error instanceof AppError ? error.code : String(error)}`)
      }
      await sleep(between(client.random, ...rest))
    }
  }
  const all = clients.map(run)
  return {
    async stop() {
      stopped = true
      await Promise.all(all)
    },
  }
}

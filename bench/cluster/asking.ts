import { setTimeout as sleep } from 'node:timers/promises'
import type { Balanced } from './balanced.ts'
import type { ToldRun } from './told.ts'

export type Client = (client: Balanced, name: string) => Promise<void>

export const fragments = (count: number) => Array.from({ length: count }, (_, n) => `fragment ${n}. `).join('')
export const jsonRpc = (method: string, message: object) => ({
  jsonrpc: '2.0',
  method,
  id: '1',
  params: { message: { role: 'user', ...message }, onDisconnect: 'continue' },
})
export const continues = { on_disconnect: 'continue' }

export function assertContent({ told }: Balanced, run: ToldRun, content: unknown, expected: string): void {
  if (content !== expected) told.wrong(`${run.name} (${run.runId}) answered ${JSON.stringify(content)?.slice(0, 200)}`)
}

/** A run with an answer that is waited for. Gives its status; undefined when the strategy refused it. */
export async function runToEnd(
  client: Balanced,
  run: ToldRun,
  expected: string,
  more: object,
): Promise<string | undefined> {
  const { told } = client
  const answer = await client.ask('run', {
    path: `/agents/${run.agentId}/run`,
    headers: { 'idempotency-key': run.name },
    body: { session_id: run.sessionId, ...continues, ...more },
  })
  if (answer === undefined) return undefined
  const { status, body } = answer
  const code = body?.error?.code
  told.named(run, body?.run_id ?? body?.error?.run_id)
  if (status === 200 && body.status === 'completed') {
    assertContent(client, run, body.content, expected)
    told.ended(run, 'completed', body.content)
    return 'completed'
  }
  if (status === 200 && body.status === 'input_required') return 'input_required'
  if (code === 'run_interrupted' || (status === 200 && body.status === 'interrupted')) return 'interrupted'
  if (code === 'run_cancelled') return 'cancelled'
  if (code === 'conflict') return undefined
  const isFull = code === 'run_failed' && `${body.error.message}`.includes('has no space left')
  if (isFull && told.mayLackSpace(run)) return undefined
  told.wrong(`${run.name} got ${status} ${JSON.stringify(body)?.slice(0, 300)}`)
  return undefined
}

/** Undefined when no answer said which run it is. */
export async function background(client: Balanced, run: ToldRun, input: string): Promise<string | undefined> {
  const answer = await client.ask('background', {
    path: `/agents/${run.agentId}/run`,
    headers: { 'idempotency-key': run.name },
    body: { input, background: true, session_id: run.sessionId },
    mayJoin: true,
  })
  if (answer === undefined) return undefined
  client.told.named(run, answer.body?.run_id ?? answer.body?.error?.run_id)
  // A key of a run that has ended answers with the run, and one that was interrupted with that.
  if (![200, 202, 409].includes(answer.status) && answer.body?.error?.code !== 'run_interrupted')
    client.told.wrong(`${run.name} got ${answer.status} ${JSON.stringify(answer.body)?.slice(0, 300)}`)
  return run.runId
}

export async function untilEnded(client: Balanced, run: ToldRun): Promise<void> {
  for (let looks = 0; !client.told.over && looks < 1_000; looks++) {
    const answer = await client.ask('get', { path: `/runs/${run.runId}` })
    if (answer === undefined) return
    if (answer.status !== 200) return client.told.wrong(`${run.name} (${run.runId}) is ${answer.status}`)
    const { status, content } = answer.body
    if (status === 'completed') return client.told.ended(run, status, content)
    if (['cancelled', 'failed', 'interrupted'].includes(status)) return client.told.ended(run, status)
    await sleep(200)
  }
  client.told.wrong(`${run.name} (${run.runId}) never ended`)
}

export const sessionRequest = (id: string) => ({
  path: '/sessions',
  headers: { 'idempotency-key': id },
  body: { session_id: id },
})

import { setTimeout as sleep } from 'node:timers/promises'

/*
 * Runs of several kinds at once against a server that may die at any moment, and what must be true of them afterwards.
 */

export type Kind = 'send' | 'stream' | 'background'

/** A request as its client saw it. */
export interface Asked {
  kind: Kind
  agentId: string
  sessionId: string | undefined
  messageId: string
  runId: string | undefined
  /** The server said that it is done, or for a background run that it has taken it. */
  acknowledged: boolean
  /** What of the answer has arrived. */
  received: string
  /** Refused in words, which is an answer too. */
  refused: string | undefined
  /** Why there was no whole answer: the code of the connection's error. */
  cutBy: string | undefined
}

export interface MixedLoad {
  readonly asked: readonly Asked[]
  /** No more requests; resolves when those under way have been answered or cut. */
  stop(): Promise<void>
}

/** Each holds a connection, of which a process may have so many. */
const verifiers = 32

const kinds: readonly Pick<Asked, 'kind' | 'agentId'>[] = [
  { kind: 'send', agentId: 'echo' },
  { kind: 'stream', agentId: 'fragments' },
  { kind: 'send', agentId: 'recall' },
  { kind: 'stream', agentId: 'slow' },
  { kind: 'background', agentId: 'slow' },
  { kind: 'send', agentId: 'slow' },
]

/** Six clients, each with its own kind of run, one after the other in a session of its own. `name` makes the ids unique. */
export function startMixedLoad(url: string, name: string): MixedLoad {
  const asked: Asked[] = []
  let stopped = false
  const client = async (index: number): Promise<void> => {
    const kind = kinds[index % kinds.length] as (typeof kinds)[number]
    for (let count = 0; !stopped; count++) {
      const sessionId = kind.kind === 'background' ? undefined : `${name}-${index}`
      const one: Asked = {
        ...kind,
        sessionId,
        messageId: `${name}-${index}-${count}`,
        runId: undefined,
        acknowledged: false,
        received: '',
        refused: undefined,
        cutBy: undefined,
      }
      asked.push(one)
      try {
        await ask(url, one)
      } catch (error) {
        one.cutBy = codeOf(error)
        return
      }
      if (one.refused !== undefined) return
      // Background runs are only taken, so they would pile up.
      if (kind.kind === 'background') await sleep(20)
    }
  }
  const clients = kinds.map((_, index) => client(index))
  return {
    asked,
    async stop() {
      stopped = true
      await Promise.all(clients)
    },
  }
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
}

interface Task {
  taskId: string
  status: string
  messages: { parts: { content?: string }[] }[]
}

/** Asks once and notes what came; throws when the connection was cut. */
export async function ask(url: string, asked: Asked): Promise<void> {
  if (asked.kind === 'background') return askBackground(url, asked)
  const text = asked.agentId === 'fragments' ? '20' : asked.messageId
  const method = `${asked.kind}Message`
  const answer = await fetch(`${url}/api/v1/a2a/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      method,
      id: asked.messageId,
      params: {
        message: {
          messageId: asked.messageId,
          role: 'user',
          agentId: asked.agentId,
          contextId: asked.sessionId,
          parts: [{ type: 'text', content: text }],
        },
      },
    }),
  })
  asked.runId = answer.headers.get('x-run-id') ?? undefined
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) return readStream(answer, asked)
  const body = (await answer.json()) as { result?: { task: Task }; error?: { message: string } }
  const task = body.result?.task
  if (task === undefined) asked.refused = body.error?.message ?? `status ${answer.status}`
  else {
    asked.runId = task.taskId
    asked.acknowledged = task.status === 'completed'
    asked.received = task.messages.flatMap(({ parts }) => parts.map(({ content = '' }) => content)).join('')
    if (!asked.acknowledged) asked.refused = asked.received
  }
}

async function readStream(answer: Response, asked: Asked): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of answer.body ?? []) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true })
    const frames = rest.split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      if (!frame.startsWith('data: ')) continue
      const event = JSON.parse(frame.slice(6)) as { type: string; content?: string; message?: string }
      if (event.type === 'content') asked.received += event.content
      else if (event.type === 'error') asked.refused = event.message
      else asked.acknowledged = asked.refused === undefined
    }
  }
}

async function askBackground(url: string, asked: Asked): Promise<void> {
  const answer = await fetch(`${url}/api/v1/agents/${asked.agentId}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': asked.messageId },
    body: JSON.stringify({ input: asked.messageId, background: true }),
  })
  const body = (await answer.json()) as { run_id?: string; session_id?: string; error?: { message: string } }
  asked.acknowledged = answer.status === 202
  asked.runId = body.run_id
  asked.sessionId = body.session_id
  if (!asked.acknowledged) asked.refused = body.error?.message ?? `status ${answer.status}`
}

/** One sentence for each run that is not as its client was told. */
export interface Findings {
  lost: string[]
  doubled: string[]
  /** Under way for ever, though nothing drives it. */
  stuck: string[]
}

interface RecordedRun {
  run_id: string
  status: string
  content: string
  truncated: boolean
}
interface History {
  messages: { message_id: string; run_id: string; role: string }[]
}

/**
 * Holds what clients were told against a server that has been started again. First every request that got no answer is
 * sent once more, as a client would.
 */
export async function verify(url: string, asked: readonly Asked[]): Promise<Findings> {
  const findings: Findings = { lost: [], doubled: [], stuck: [] }
  const cut = asked.filter(({ acknowledged }) => !acknowledged)
  for (const one of cut) await ask(url, { ...one })
  const waiting = [...asked]
  const verifier = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await verifyRun(url, next, findings)
  }
  await Promise.all(Array.from({ length: verifiers }, verifier))
  const sessions = new Set(
    asked.flatMap(({ sessionId, kind }) => (kind === 'background' || !sessionId ? [] : sessionId)),
  )
  for (const sessionId of sessions) await verifyOnce(url, sessionId, asked, findings)
  findings.stuck.push(...(await unsettled(url)))
  return findings
}

async function verifyRun(url: string, asked: Asked, { lost }: Findings): Promise<void> {
  const { runId, kind, acknowledged, received, messageId } = asked
  if (runId === undefined) {
    if (acknowledged) lost.push(`${messageId} was acknowledged without a run`)
    return
  }
  const answer = await fetch(`${url}/api/v1/runs/${runId}`)
  if (answer.status !== 200) {
    await answer.arrayBuffer()
    lost.push(`${messageId}: run ${runId} is not installed (${answer.status})`)
    return
  }
  const run = (await answer.json()) as RecordedRun
  if (kind === 'background') return
  if (acknowledged && run.status !== 'completed') lost.push(`${messageId}: run ${runId} is ${run.status}`)
  else if (acknowledged && run.content !== received) lost.push(`${messageId}: run ${runId} has another answer`)
  // A failed answer's text is about the failure.
  else if (asked.refused === undefined && !run.content.startsWith(received) && !run.truncated) {
    lost.push(`${messageId}: run ${runId} lacks text that was sent, and does not say so`)
  }
}

async function verifyOnce(url: string, sessionId: string, asked: readonly Asked[], findings: Findings): Promise<void> {
  const answer = await fetch(`${url}/api/v1/sessions/${sessionId}/history?num_messages=1000`)
  const messages = answer.status === 200 ? ((await answer.json()) as History).messages : []
  const counts = new Map<string, number>()
  for (const { message_id: id, role } of messages) if (role === 'user') counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const { messageId, acknowledged, sessionId: own } of asked) {
    if (own !== sessionId) continue
    const count = counts.get(messageId) ?? 0
    if (count > 1) findings.doubled.push(`${messageId} is there ${count} times`)
    if (count === 0 && acknowledged) findings.lost.push(`${messageId} is not in the history of ${sessionId}`)
  }
}

/** What is still under way long after the last request. */
async function unsettled(url: string): Promise<string[]> {
  let left: string[] = []
  for (let attempt = 0; attempt < 100; attempt++) {
    left = []
    for (const status of ['running', 'queued']) {
      const answer = await fetch(`${url}/api/v1/runs?status=${status}&limit=100`)
      const { runs } = (await answer.json()) as { runs: { run_id: string }[] }
      left.push(...runs.map(({ run_id }) => `${run_id} is ${status}`))
    }
    if (left.length === 0) break
    await sleep(100)
  }
  return left
}

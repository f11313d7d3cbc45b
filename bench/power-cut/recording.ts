import { spawn } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Project, root } from '../../test/support/program.ts'
import { Disk } from './disk.ts'
import { readTrace, type Step, straceArgs } from './trace.ts'

/** A run that a client was told is completed. */
export interface Answered {
  runId: string
  sessionId: string
  messageId: string
  sent: string
  received: string
  /** The line of the trace at which the answer began to leave. */
  line: number
}

export interface Recording {
  steps: Step[]
  /** In the order in which their answers left. */
  answered: Answered[]
  folder: string
  database: string
}

interface Life {
  share: number
  clients: number
  agentIds: readonly string[]
  /** Between two runs of a client: long enough for a checkpoint to reach the end of the WAL, so that it begins anew. */
  pauseMs: number
  end: 'SIGTERM' | 'SIGKILL'
}

/** The program is started three times: with no data, after a stop that has closed the database, and after a kill. */
const lives: readonly Life[] = [
  { share: 0.5, clients: 1, agentIds: ['echo'], pauseMs: 30, end: 'SIGTERM' },
  { share: 0.25, clients: 4, agentIds: ['echo', 'steps'], pauseMs: 0, end: 'SIGKILL' },
  { share: 0.25, clients: 8, agentIds: ['echo', 'steps'], pauseMs: 0, end: 'SIGKILL' },
]
const runsPerSession = 5

/** Runs the program under strace with `requests` A2A messages. */
export async function record(
  project: Project,
  synchronous: 'FULL' | 'NORMAL',
  requests: number,
  random: () => number,
): Promise<Recording> {
  const folder = join(project.folder, `data-${synchronous}`)
  const database = join(folder, 'agentserve.db')
  const traceFile = join(project.folder, `trace-${synchronous}`)
  const configFile = join(project.folder, `${synchronous}.config.ts`)
  await mkdir(folder)
  await project.write(basename(configFile), configOf(database, synchronous))
  const program = [join(root, 'bin/agentserve.js'), 'start', '--port', '0', '--json']
  const args = [...straceArgs(traceFile), process.execPath, ...program, '--data', folder, '--config', configFile]
  const told: Omit<Answered, 'line'>[] = []
  for (const [index, life] of lives.entries()) {
    const server = await start(project.folder, args)
    try {
      told.push(...(await load(server.url, life, `life-${index}`, Math.round(requests * life.share), random)))
    } finally {
      await server.end(life.end)
    }
  }
  const steps = await readTrace(traceFile, folder, database)
  await compareWithFiles(steps, folder)
  return { steps, answered: withLines(told, steps), folder, database }
}

async function start(cwd: string, args: string[]) {
  const { PATH, HOME } = process.env
  const child = spawn('strace', args, { cwd, env: { PATH, HOME }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  // Strace has the same pipes, so they close when it has written everything.
  const closed = new Promise<void>((resolve, reject) => {
    child.once('error', (cause) => reject(new Error('strace is needed: apt-get install strace', { cause })))
    child.once('close', () => resolve())
  })
  const url = await new Promise<string>((resolve, reject) => {
    closed.then(() => reject(new Error(`it ended: ${output}`)), reject)
    child.stdout.on('data', () => {
      const found = /"url":"([^"]+)"/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  const end = (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    return closed
  }
  return { url, end }
}

async function load(
  url: string,
  { clients, agentIds, pauseMs }: Life,
  name: string,
  requests: number,
  random: () => number,
): Promise<Omit<Answered, 'line'>[]> {
  const told: Omit<Answered, 'line'>[] = []
  let asked = 0
  const client = async (own: string): Promise<void> => {
    for (let mine = 0; asked < requests; mine++) {
      asked += 1
      const sessionId = `${own}-${Math.floor(mine / runsPerSession)}`
      const word = Math.floor(random() * 2 ** 32).toString(36)
      const sent = word.repeat(1 + Math.floor(random() * 400))
      const agentId = agentIds[Math.floor(random() * agentIds.length)] ?? ''
      told.push(await ask(url, agentId, sessionId, `${own}-message-${mine}`, sent))
      await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, index) => client(`${name}-client-${index}`)))
  return told
}

async function ask(url: string, agentId: string, sessionId: string, messageId: string, sent: string) {
  const message = { messageId, role: 'user', agentId, contextId: sessionId, parts: [{ type: 'text', content: sent }] }
  const answer = await fetch(`${url}/api/v1/a2a/sendMessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', method: 'sendMessage', id: messageId, params: { message } }),
  })
  const text = await answer.text()
  const task = (JSON.parse(text) as Body).result?.task
  if (task?.status !== 'completed') throw new Error(`${messageId} was answered with ${text}`)
  const received = task.messages.flatMap(({ parts }) => parts.map(({ content = '' }) => content)).join('')
  return { runId: task.taskId, sessionId, messageId, sent, received }
}

interface Body {
  result?: { task?: { taskId: string; status: string; messages: { parts: { content?: string }[] }[] } }
}

function withLines(told: readonly Omit<Answered, 'line'>[], steps: readonly Step[]): Answered[] {
  const lines = new Map<string, number>()
  for (const step of steps) {
    if (step.kind !== 'send') continue
    for (const [, runId = ''] of step.text.matchAll(/X-Run-Id: (\w+)/gi)) {
      if (!lines.has(runId)) lines.set(runId, step.begin)
    }
  }
  return told
    .map((one) => {
      const line = lines.get(one.runId)
      if (line === undefined) throw new Error(`the answer of ${one.runId} is not in the trace`)
      return { ...one, line }
    })
    .sort((a, b) => a.line - b.line)
}

/** The replay is right when, with nothing taken away, it gives the files that are there. */
async function compareWithFiles(steps: readonly Step[], folder: string): Promise<void> {
  const disk = new Disk(steps, folder)
  disk.advance(Number.POSITIVE_INFINITY)
  for (const [path, { bytes, certain }] of disk.written()) {
    if (certain && !bytes.equals(await readFile(path))) throw new Error(`the replay of ${path} is not what is there`)
  }
}

function configOf(path: string, synchronous: string): string {
  return `import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  server: { sessionStorage: ${JSON.stringify({ type: 'sqlite', path, synchronous })} },
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    steps: agent({ async *run({ text }) { yield 'first ' ; yield text } }),
  },
})
`
}

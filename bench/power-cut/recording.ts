import { spawn } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
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

/** How many ask at once, one after the other for an equal share of the requests. */
const clientCounts = [1, 4, 8]
const runsPerSession = 5

/** Runs the program under strace with `requests` A2A messages and ends it with SIGKILL. */
export async function record(
  project: Project,
  synchronous: 'FULL' | 'NORMAL',
  requests: number,
  random: () => number,
): Promise<Recording> {
  const folder = join(project.folder, `data-${synchronous}`)
  const database = join(folder, 'agentserve.db')
  const traceFile = join(project.folder, `trace-${synchronous}`)
  await mkdir(folder)
  await project.write(`${synchronous}.config.ts`, configOf(database, synchronous))
  const program = [join(root, 'bin/agentserve.js'), 'start', '--port', '0', '--json', '--data', folder]
  const args = [...program, '--config', join(project.folder, `${synchronous}.config.ts`)]
  const child = spawn('strace', [...straceArgs(traceFile), process.execPath, ...args], {
    cwd: project.folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const listen = (text: string) => {
    output += text
  }
  child.stderr.setEncoding('utf8').on('data', listen)
  child.stdout.setEncoding('utf8').on('data', listen)
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
  let told: Omit<Answered, 'line'>[]
  try {
    told = await load(url, requests, random)
  } finally {
    child.kill('SIGKILL')
    await closed
  }
  const steps = await readTrace(traceFile, folder, database)
  await compareWithFiles(steps, folder)
  return { steps, answered: withLines(told, steps), folder, database }
}

async function load(url: string, requests: number, random: () => number): Promise<Omit<Answered, 'line'>[]> {
  const told: Omit<Answered, 'line'>[] = []
  let asked = 0
  for (const [phase, count] of clientCounts.entries()) {
    const until = Math.round((requests * (phase + 1)) / clientCounts.length)
    const client = async (name: string) => {
      for (let mine = 0; asked < until; mine++) {
        asked += 1
        const sessionId = `${name}-${Math.floor(mine / runsPerSession)}`
        const sent = Math.floor(random() * 2 ** 32)
          .toString(36)
          .repeat(1 + Math.floor(random() * 400))
        told.push(await ask(url, random() < 0.5 ? 'echo' : 'steps', sessionId, `${name}-message-${mine}`, sent))
      }
    }
    await Promise.all(Array.from({ length: count }, (_, index) => client(`phase-${phase}-client-${index}`)))
  }
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
    echo: agent({ effects: 'none', async *run({ text }) { yield text } }),
    steps: agent({ async *run({ text }) { yield 'first ' ; yield text } }),
  },
})
`
}

import { endEvent, startEvent } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import { RunSteps } from '../../core/steps/steps.ts'
import { formatBytes } from '../../core/text/format.ts'
import type { RunEvent } from '../../wire/event.ts'
import type { Run } from '../../wire/run.ts'
import type { Session } from '../../wire/session.ts'

export interface CopiedRun {
  run: Run & { messages: readonly Message[]; end_seq: number }
  events: RunEvent[]
}

/** A session as an export has it. */
export interface CopiedSession {
  session: Session
  /** In the order of the file, children after their parents. */
  runs: ReadonlyMap<string, CopiedRun>
  /** Those of its conversation. */
  turns: readonly CopiedRun[]
  /** By the id of the file, as base64. */
  files: ReadonlyMap<string, string>
  /** Why some of it is missing, or ''. */
  problem: string
}

/** All of it is in memory at once. */
const mostBytes = 200 * 1024 * 1024

const isText = (value: unknown): value is string => typeof value === 'string'
const isTime = (value: unknown): boolean => isText(value) && !Number.isNaN(Date.parse(value))

/** Reads an export in the page. What it throws says in words why the file can't be shown. */
export async function readCopy(file: File): Promise<CopiedSession> {
  if (file.size > mostBytes)
    throw new Error(`The page reads at most ${formatBytes(mostBytes)}. Import it with: agentserve sessions import`)
  const [first = '', ...lines] = (await file.text()).trimEnd().split('\n')
  const session = sessionOf(first)
  const runs = new Map<string, CopiedRun>()
  const files = new Map<string, string>()
  let problem = 'The file is not whole.'
  for (const [place, text] of lines.entries()) {
    const line = parsed(text)
    if (line?.type === 'end') {
      if (line.runs === runs.size) problem = ''
      break
    }
    if (line === undefined || !take(line, runs, files)) {
      problem = `Line ${place + 2} of the file can’t be read.`
      break
    }
  }
  for (const { run, events } of runs.values()) events.push(endEvent(run, run.end_seq))
  const turns = [...runs.values()].filter(({ run }) => run.parent_run_id === null && run.replaced_by === null)
  return { session, runs, turns, files, problem }
}

// biome-ignore lint/suspicious/noExplicitAny: each field is looked at before it is used
type Line = any

function parsed(text: string): Line {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function sessionOf(text: string): Session {
  const line = parsed(text)
  if (line?.type !== 'session' || !isText(line.session?.session_id))
    throw new Error('It is no export of a session. “Session…”, “Export” saves one.')
  if (line.version !== 1) throw new Error('It is of another version of agentserve. Export the session again.')
  return line.session
}

/** Whether the line is as it should be. */
function take(line: Line, runs: Map<string, CopiedRun>, files: Map<string, string>): boolean {
  const { type, run, run_id, events, file, data } = line
  if (type === 'run') {
    const isRun = isText(run?.run_id) && isText(run.entity_id) && isText(run.status) && isTime(run.created_at)
    if (!isRun || !Array.isArray(run.messages) || !run.messages.every(isMessage)) return false
    const whole = { waiting: [], replaced_by: null, again_of: null, cost: null, end_seq: 2, ...run }
    runs.set(run.run_id, { run: whole, events: [startEvent(whole)] })
    return true
  }
  if (type === 'events') {
    const known = runs.get(run_id)
    if (known === undefined || !Array.isArray(events) || !events.every(isEvent)) return false
    for (const event of events) known.events.push({ ...event, run_id })
    return canFold(known.events)
  }
  if (type === 'file' && isText(file?.file_id) && isText(data)) files.set(file.file_id, data)
  return type === 'file'
}

const isMessage = (message: Line) => isText(message?.role) && Array.isArray(message.parts)
const isEvent = (event: Line) => isText(event?.type) && Number.isInteger(event.seq) && isTime(event.at)

/** Whether the page can make something of them. */
function canFold(events: readonly RunEvent[]): boolean {
  const steps = new RunSteps()
  try {
    for (const event of events) steps.add(event)
    return true
  } catch {
    return false
  }
}

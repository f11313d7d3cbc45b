import { isAppError } from '../../../core/error.ts'
import { isTurn, type Run } from '../../../core/run.ts'
import type { RunFilter } from '../../../core/store.ts'
import { assertScopes } from '../../../http/security/scope.ts'
import { jsonSize } from '../../../runtime/json-size.ts'
import type { Call } from './operations.ts'
import { comesBefore, type PagePlace, readPageToken, type TaskPlace, writePageToken } from './page-token.ts'
import { type ListParams, readList } from './read.ts'
import type { Task } from './shapes.ts'
import { stateOf, statusesOf, statusOf, toTask } from './task.ts'

export interface TaskPage {
  tasks: Task[]
  nextPageToken: string
  pageSize: number
  totalSize: number
}

const runsAtOnce = 100
/** How many runs `totalSize` counts, and how many are sorted by the time of their status: the latest, then those before them. */
const windowSize = 1_000
/** How many runs a request looks at: few of them may be tasks of the list. */
const mostLooked = 10_000
/** How many characters a page has, and one task more. */
const mostCharacters = 8 * 1024 * 1024

/** How far a walk came. */
interface Walk {
  last: string | undefined
  /** It ended before the runs did. */
  isCut: boolean
}

/** What is left of a window, and where the next one begins. */
interface Window {
  runs: Run[]
  count: number
  last: string | undefined
  hasNext: boolean
}

/**
 * The latest change of a status first, as far as `windowSize` tasks go. The history comes only when it is asked for. A page may have
 * fewer tasks than there are, even none.
 */
export async function listTasks(call: Call): Promise<TaskPage> {
  const { request } = call
  assertScopes(request.scopes, 'sessions')
  const list = readList(call.params)
  const place = readPageToken(list.pageToken)
  const window = await readWindow(call, list, place)
  const tasks: Task[] = []
  let characters = 0
  let last: Run | undefined
  for (const run of window.runs.slice(0, list.pageSize)) {
    if (characters >= mostCharacters) break
    last = run
    const task = await shown(call, list, run)
    if (task === undefined) continue
    tasks.push(task)
    characters += jsonSize(task, mostCharacters)
  }
  const isDone = last === window.runs.at(-1)
  const next: PagePlace | undefined = !isDone
    ? { before: place.before, last: window.last, after: last && placeOf(last) }
    : window.hasNext
      ? { before: window.last }
      : undefined
  const totalSize = place.before === undefined ? window.count : (await readWindow(call, list, {})).count
  return { tasks, nextPageToken: next ? writePageToken(next) : '', pageSize: tasks.length, totalSize }
}

/** The tasks of a page and one more, of those that come after the place. */
async function readWindow(call: Call, list: ListParams, { before, last, after }: PagePlace): Promise<Window> {
  const walk: Walk = { last: undefined, isCut: false }
  const most = list.pageSize + 1
  const runs: Run[] = []
  let count = 0
  let end: string | undefined
  let hasNext = false
  // New tasks have come since; if the last one was deleted, the window is larger than it was.
  const isFull = () => (last !== undefined && end === last) || count >= (last === undefined ? 1 : 2) * windowSize
  for await (const run of tasksOf(call, list, walk, before)) {
    if (isFull()) {
      hasNext = true
      break
    }
    count++
    end = run.run_id
    if (after === undefined || comesBefore(after, placeOf(run))) runs.push(run)
    if (runs.length >= 2 * most) keepNewest(runs, most)
  }
  keepNewest(runs, most)
  const isCutShort = walk.isCut && !isFull()
  const window = { runs, count: Math.min(count, windowSize) }
  return { ...window, last: isCutShort ? walk.last : end, hasNext: hasNext || walk.isCut }
}

function keepNewest(runs: Run[], most: number): void {
  runs.sort((one, other) => (comesBefore(placeOf(one), placeOf(other)) ? -1 : 1))
  runs.length = Math.min(runs.length, most)
}

function placeOf(run: Run): TaskPlace {
  return { time: Date.parse(statusOf(run).timestamp), id: run.run_id }
}

/** Undefined when the run is deleted meanwhile. */
async function shown({ services, fileUrl }: Call, list: ListParams, run: Run): Promise<Task | undefined> {
  const { historyLength = 0, artifacts } = list
  if (historyLength === 0 && !artifacts) {
    return { id: run.run_id, contextId: run.session_id, status: statusOf(run) }
  }
  try {
    const record = await services.runs.get(run.run_id)
    return toTask(record, { historyLength, artifacts, contents: new Map(), fileUrl })
  } catch (error) {
    if (isAppError(error) && error.code === 'run_not_found') return undefined
    throw error
  }
}

async function* tasksOf(
  { services, agentId }: Call,
  list: ListParams,
  walk: Walk,
  before?: string,
): AsyncGenerator<Run> {
  const { contextId, state, changedAfter } = list
  if (state === 'none') return
  const statuses = state === undefined ? [] : statusesOf(state)
  const filter: RunFilter = { agent_id: agentId, before }
  if (contextId !== undefined) filter.session_id = contextId
  if (statuses.length === 1) filter.status = statuses[0]
  let looked = 0
  for (let cursor: string | undefined; ; ) {
    const page = await services.runs.list(filter, { limit: runsAtOnce, cursor })
    for (const run of page.items) {
      looked++
      walk.last = run.run_id
      if (!isTurn(run) || (state !== undefined && stateOf(run) !== state)) continue
      if (changedAfter !== undefined && Date.parse(statusOf(run).timestamp) <= changedAfter) continue
      yield run
    }
    if (page.next === null) return
    if (looked >= mostLooked) {
      walk.isCut = true
      return
    }
    cursor = page.next
  }
}

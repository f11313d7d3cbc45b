import { isAppError } from '../../../core/error.ts'
import { isTurn, type Run } from '../../../core/run.ts'
import type { RunFilter } from '../../../core/store.ts'
import { assertScopes } from '../../../http/security/scope.ts'
import { jsonSize } from '../../../runtime/json-size.ts'
import type { Call } from './operations.ts'
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
/** How many runs `totalSize` counts. */
const mostCounted = 1_000
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

/** Newest first. The history comes only when it is asked for. A page may have fewer tasks than there are, even none. */
export async function listTasks(call: Call): Promise<TaskPage> {
  const { request } = call
  assertScopes(request.scopes, 'sessions')
  const list = readList(call.params)
  const tasks: Task[] = []
  const walk: Walk = { last: undefined, isCut: false }
  let characters = 0
  let last: string | undefined
  let hasMore = false
  for await (const run of tasksOf(call, list, walk, list.pageToken)) {
    if (tasks.length === list.pageSize || characters >= mostCharacters) {
      hasMore = true
      break
    }
    last = run.run_id
    const task = await shown(call, list, run)
    if (task === undefined) continue
    tasks.push(task)
    characters += jsonSize(task, mostCharacters)
  }
  const next = hasMore ? last : walk.isCut ? walk.last : undefined
  const isAll = list.pageToken === undefined && next === undefined
  const totalSize = isAll ? tasks.length : await countOf(call, list)
  return { tasks, nextPageToken: next ?? '', pageSize: tasks.length, totalSize }
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

async function countOf(call: Call, list: ListParams): Promise<number> {
  let count = 0
  for await (const _run of tasksOf(call, list, { last: undefined, isCut: false })) if (++count === mostCounted) break
  return count
}

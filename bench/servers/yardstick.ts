import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { createId } from '../../src/core/id.ts'
import { fragment } from '../fragment.ts'
import { listen, readText } from './listen.ts'

/*
 * The least that a durable run can cost: bare node:http and one transaction for all requests that wait, which writes the rows
 * that agentserve writes for such a run, into the same tables with the same indexes. It checks, reads and remembers nothing.
 *
 * Arguments: a session database of agentserve, whose tables it copies, and the file to make.
 */

interface Request {
  id: string
  method: 'sendMessage' | 'streamMessage'
  params: {
    message: { messageId: string; agentId: string; contextId?: string; parts: { type: 'text'; content: string }[] }
  }
}

interface Waiting {
  request: Request
  response: ServerResponse
}

const [like = '', path = ''] = process.argv.slice(2)
const owner = createId('own')
const database = openLike(like, path)
const begin = database.prepare('BEGIN IMMEDIATE')
const commit = database.prepare('COMMIT')
const addSession = insert('sessions', [
  ...['session_id', 'agent_id', 'created_at', 'updated_at', 'revision', 'run_count'],
])
const addRun = insert('runs', [
  ...[
    'run_id',
    'run_session_id',
    'entity_id',
    'status',
    'truncated',
    'owner',
    'fence',
    'reserve_until',
    'recorded_seq',
  ],
  ...['run_claim_key', 'run_claim_hash', 'run_claim_expires_at', 'begun', 'ended', 'input', 'output', 'last_batch'],
])
let waiting: Waiting[] = []

listen((incoming, response) => {
  readText(incoming, (text) => {
    waiting.push({ request: JSON.parse(text) as Request, response })
    if (waiting.length === 1) setImmediate(writeAll)
  })
})

/** What leaves has been committed. */
function writeAll(): void {
  const all = waiting
  waiting = []
  begin.run()
  const answers = all.map(({ request }) => write(request))
  commit.run()
  for (const [index, { response }] of all.entries()) answers[index]?.(response)
}

function write({ id, method, params }: Request): (response: ServerResponse) => void {
  const { messageId, agentId, contextId, parts } = params.message
  const text = parts[0]?.content ?? ''
  const fragments = agentId === 'echo' ? [text] : Array.from({ length: Number(text) }, (_, index) => fragment(index))
  const [runId, answerId, sessionId] = [createId('run'), createId('msg'), contextId ?? createId('ses')]
  const at = new Date().toISOString()
  const content = fragments.join('')
  addSession.run(sessionId, agentId, at, at, 3, 1)
  const values: SQLInputValue[] = [runId, sessionId, agentId, 'completed', 0, owner, 1, 1000, fragments.length + 1]
  addRun.run(
    ...values,
    `a2a message anonymous ${agentId} ${messageId}`,
    hash('sha256', content, 'base64url'),
    at,
    JSON.stringify({ entity_kind: 'agent', created_at: at, started_at: at }),
    JSON.stringify({ completed_at: at, end_seq: fragments.length + 2 }),
    JSON.stringify([[messageId, 'user', [{ type: 'text', text }], at]]),
    JSON.stringify([[answerId, 'assistant', [{ type: 'text', text: content }], at]]),
    JSON.stringify([{ type: 'text_delta', seq: 2, at, text: content, lengths: fragments.map(({ length }) => length) }]),
  )
  if (method === 'streamMessage') return (response) => stream(response, fragments)
  const answer = {
    messageId: answerId,
    role: 'assistant',
    agentId,
    contextId: sessionId,
    parts: [{ type: 'text', content }],
  }
  const task = { taskId: runId, status: 'completed', messages: [answer] }
  const body = JSON.stringify({ jsonrpc: '2.0', id, result: { task } })
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    response.end(body)
  }
}

function stream(response: ServerResponse, fragments: readonly string[]): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
  for (const content of fragments) response.write(`data: ${JSON.stringify({ type: 'content', content })}\n\n`)
  response.end('data: {"type":"done"}\n\n')
}

/** A new file with the tables of another, which writes as agentserve does. */
function openLike(other: string, file: string): DatabaseSync {
  const model = new DatabaseSync(other, { readOnly: true })
  const made = model.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'").all()
  model.close()
  const opened = new DatabaseSync(file)
  opened.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16000')
  for (const { sql } of made) opened.exec(String(sql))
  return opened
}

function insert(table: string, columns: readonly string[]) {
  return database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
}

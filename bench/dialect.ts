/* How each server of the benchmark is asked for a run, and how one tells that its answer is right. */

export type Dialect = 'agentserve' | 'sdk'
export type Method = 'send' | 'stream'

export interface Ask {
  dialect: Dialect
  method: Method
  agentId: string
  text: string
}

export function pathOf({ dialect, method }: Ask): string {
  return dialect === 'sdk' ? '/' : `/api/v1/a2a/${method}Message`
}

/** Ids have to be unique: the same message again is no new run. */
export function bodyOf(
  { dialect, method, agentId, text }: Ask,
  messageId: string,
  contextId: string | undefined,
): string {
  const context = contextId === undefined ? {} : { contextId }
  if (dialect === 'sdk') {
    const message = { messageId, role: 'ROLE_USER', ...context, parts: [{ text }] }
    const name = method === 'send' ? 'SendMessage' : 'SendStreamingMessage'
    return JSON.stringify({ jsonrpc: '2.0', method: name, id: messageId, params: { message } })
  }
  const message = { messageId, role: 'user', agentId, ...context, parts: [{ type: 'text', content: text }] }
  return JSON.stringify({ jsonrpc: '2.0', method: `${method}Message`, id: messageId, params: { message } })
}

/** Whether the run completed, and for a stream, whether it was told to the end. */
export function isRight({ dialect, method }: Ask, status: number, body: string): boolean {
  if (status !== 200) return false
  if (dialect === 'sdk') return body.includes('"TASK_STATE_COMPLETED"')
  if (method === 'send') return body.includes('"status":"completed"') && !body.includes('"error":')
  return body.includes('data: {"type":"done"}') && !body.includes('data: {"type":"error"')
}

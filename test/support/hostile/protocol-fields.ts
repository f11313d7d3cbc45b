import { at, field, type HostileField, inPath } from './fields.ts'

/* What useChat, AG-UI and the official A2A are sent. */

type Of = (text: string, fresh: string) => object

const chat = (name: string, body: Of, takes: HostileField['takes'] = 'bodies') =>
  field(name, takes, 'POST', at('/chat/mirror'), body as never)
const said = (fresh: string, part: object) => ({ id: fresh, messages: [{ id: 'u1', role: 'user', parts: [part] }] })
const hi = { type: 'text', text: 'hi' }

/** A message with this answer to a call that nothing has asked for. */
const answered = (fresh: string, part: object) => ({
  id: fresh,
  messages: [{ id: 'msg_1', role: 'assistant', parts: [{ type: 'tool-pay', toolCallId: 'c', ...part }] }],
})

const asks = { id: 'u1', role: 'user', content: 'hi' }
const agUi = (name: string, body: Of, takes: HostileField['takes'] = 'bodies') =>
  field(name, takes, 'POST', at('/ag-ui/mirror'), ((text: string, fresh: string) => ({
    ...{ threadId: fresh, runId: 'r1', messages: [asks] },
    ...body(text, fresh),
  })) as never)

const rpc = (method: string, params: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params })
const official = (name: string, body: Of, takes: HostileField['takes'] = 'bodies') =>
  field(name, takes, 'POST', at('/a2a/agents/mirror'), body as never)
const message = (fresh: string, more: object) =>
  rpc('SendMessage', { message: { messageId: fresh, role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more } })
const part = (name: string, of: (text: string) => object, takes?: HostileField['takes']) =>
  official(name, (text, fresh) => message(fresh, { parts: [of(text)] }), takes)

export const protocolFields: HostileField[] = [
  chat('the id of a chat', (text) => said(text, hi)),
  chat('the id of a message in a chat', (id, fresh) => ({ id: fresh, messages: [{ id, role: 'user', parts: [hi] }] })),
  chat('the text in a chat', (text, fresh) => said(fresh, { type: 'text', text })),
  chat('data in a chat', (text, fresh) => said(fresh, { type: `data-${text}`, data: { text, [text]: 1 } })),
  chat('JSON in a chat', (data, fresh) => said(fresh, { type: 'data-x', data }), 'json'),
  chat('the media type in a chat', (mediaType, fresh) => said(fresh, { type: 'file', mediaType, url: 'data:,x' })),
  chat('the address in a chat', (url, fresh) => said(fresh, { type: 'file', mediaType: 'image/png', url })),
  chat('metadata of a chat', (text, fresh) => ({ ...said(fresh, hi), agentserve: { metadata: { text } } })),
  chat('a tool of the page of a chat', (text, fresh) => ({
    ...said(fresh, hi),
    agentserve: { client_tools: [{ name: text, description: text, parameters: { type: 'object' } }] },
  })),
  chat('a trigger of a chat', (trigger, fresh) => ({ ...said(fresh, hi), trigger })),
  chat('an answered call of a chat', (text, fresh) =>
    answered(fresh, { toolCallId: text, state: 'output-available', output: text }),
  ),
  chat('a reason in a chat', (reason, fresh) =>
    answered(fresh, { state: 'approval-responded', approval: { approved: true, reason } }),
  ),
  field('a chat that is read', 'addresses', 'GET', inPath('/chat/mirror/')),
  field('a chat that is followed', 'addresses', 'GET', inPath('/chat/mirror/', '/stream')),
  field('a chat that is stopped', 'addresses', 'POST', inPath('/chat/mirror/', '/stop'), () => ({})),
  field('the agent of a chat', 'addresses', 'POST', inPath('/chat/'), () => said('any', hi)),

  agUi('the id of a thread', (threadId) => ({ threadId })),
  agUi('the id of a run of a thread', (runId, fresh) => ({ threadId: fresh, runId })),
  agUi('the version of a client of AG-UI', (protocolVersion, fresh) => ({ threadId: fresh, protocolVersion })),
  agUi('the text in a thread', (content, fresh) => ({ threadId: fresh, messages: [{ ...asks, content }] })),
  agUi('the id of a message in a thread', (id, fresh) => ({ threadId: fresh, messages: [{ ...asks, id }] })),
  agUi('the role of a message in a thread', (role, fresh) => ({
    threadId: fresh,
    messages: [{ ...asks, role }, asks],
  })),
  agUi('a part of a message in a thread', (type, fresh) => ({
    threadId: fresh,
    messages: [{ ...asks, content: [{ type, text: type }] }],
  })),
  agUi('the address of a file in a thread', (value, fresh) => ({
    threadId: fresh,
    messages: [{ ...asks, content: [{ type: 'image', source: { type: 'url', value, mimeType: 'image/png' } }] }],
  })),
  agUi('the media type of a file in a thread', (mimeType, fresh) => ({
    threadId: fresh,
    messages: [{ ...asks, content: [{ type: 'image', source: { type: 'data', value: 'eA==', mimeType } }] }],
  })),
  agUi('an earlier call in a thread', (text, fresh) => ({
    threadId: fresh,
    messages: [
      { id: 'a', role: 'assistant', toolCalls: [{ id: text, function: { name: text, arguments: text } }] },
      { id: 't', role: 'tool', toolCallId: text, content: text },
      asks,
    ],
  })),
  agUi('the outcome of a tool in a thread', (text, fresh) => ({
    threadId: fresh,
    messages: [asks, { id: 't', role: 'tool', toolCallId: text, content: text, error: text }],
  })),
  agUi('an answer in a thread', (text, fresh) => ({
    threadId: fresh,
    resume: [{ interruptId: text, status: 'resolved', payload: { approved: true, reason: text } }],
  })),
  agUi('the state of a thread', (text, fresh) => ({ threadId: fresh, state: { text, [text]: 1 } })),
  agUi('JSON in the state of a thread', (state, fresh) => ({ threadId: fresh, state }), 'json'),
  agUi('JSON that is forwarded in a thread', (forwardedProps, fresh) => ({ threadId: fresh, forwardedProps }), 'json'),
  agUi('a tool of the client of a thread', (text, fresh) => ({
    threadId: fresh,
    tools: [{ name: text, description: text, parameters: { type: 'object' } }],
  })),
  agUi('the context of a thread', (text, fresh) => ({
    threadId: fresh,
    context: [{ description: text, value: text }],
  })),
  field('a thread that is read', 'addresses', 'GET', inPath('/ag-ui/mirror/threads/')),
  field('the agent of a thread', 'addresses', 'POST', inPath('/ag-ui/'), () => ({
    threadId: 'any',
    runId: 'r',
    messages: [asks],
  })),

  official('the id of a request to a task', (id) => rpc('GetTask', { id: 'run_none' }, id)),
  official('the method of a request', (method) => rpc(method, {})),
  official('the message id of a task', (messageId) => message('', { messageId })),
  official('the context of a task', (contextId, fresh) => message(fresh, { contextId })),
  official('the task of a message', (taskId, fresh) => message(fresh, { taskId })),
  official('the role of a message for a task', (role, fresh) => message(fresh, { role })),
  official('the task that is asked for', (id) => rpc('GetTask', { id })),
  official('the task that is cancelled', (id) => rpc('tasks/cancel', { id })),
  official('the task that is subscribed to', (id) => rpc('tasks/resubscribe', { id })),
  official('where a list of tasks goes on', (pageToken) => rpc('ListTasks', { pageToken, contextId: 'none' })),
  official('the accepted output of a task', (text, fresh) => ({
    ...rpc('SendMessage', {
      ...(message(fresh, {}).params as object),
      configuration: { acceptedOutputModes: [text] },
    }),
  })),
  part('the text of a task', (text) => ({ text })),
  part('the data of a task', (text) => ({ data: { text, [text]: 1 } })),
  part('JSON of a task', (data) => ({ data }), 'json'),
  part('the address of a file of a task', (url) => ({ url, mediaType: 'image/png' })),
  part('the media type of a file of a task', (mediaType) => ({ url: 'https://example.com/a.png', mediaType })),
  field('a task that is read', 'addresses', 'GET', inPath('/a2a/agents/mirror/tasks/')),
  field('a card that is read', 'addresses', 'GET', inPath('/a2a/agents/', '/.well-known/agent-card.json')),
]

/*
 * Every field of a request that is stored or looked up, with texts that databases trip over.
 */

const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n.toString(36)}x${n * 7919}`).join(' ')
const nest = (levels: number) => {
  let value: unknown = 'end'
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { deep: value }
  return value
}

export const hostileTexts: Record<string, string> = {
  nothing: '',
  space: ' ',
  NUL: '\0',
  'NUL in the middle': 'before\0after',
  'the escape of NUL': 'before\\u0000after',
  'half a pair': '\ud800',
  'the other half in the middle': 'before\udc00after',
  'a pair': '𝔸',
  'a byte order mark': '\ufeffafter',
  'line separators': 'one\u2028two\u2029three\r\n\x0b\x1b[31m',
  quotes: `'; DROP TABLE run; -- " \\ $1 $$ E'\\x00'`,
  patterns: '%_*?[](){}|^~',
  'a long word': 'x'.repeat(5_000),
  'a long word that can not be compressed': Array.from({ length: 700 }, (_, n) =>
    (n * 2_654_435_761).toString(36),
  ).join(''),
  'an accent alone': '\u0301',
  'the last code points': '\uffff\u{10ffff}',
}

/** For bodies only: they are too long for an address. */
export const largeTexts: Record<string, string> = {
  'a long text': 'long text '.repeat(100_000),
  'many words': words(120_000),
  'a megabyte without a space': 'y'.repeat(1024 * 1024),
}

export const hostileJson: Record<string, unknown> = {
  'deep JSON': nest(60),
  'too deep JSON': nest(100),
  'a key with NUL': { 'a\0b': 1 },
  'a key that is half a pair': { '\ud800': 1 },
  'a proto key': JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  'large numbers': { a: 1e308, b: -1e-308, c: 2 ** 53 + 2, d: -0 },
  'many keys': Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`key ${n}`, n])),
}

export interface HostileField {
  name: string
  /** Undefined: this text can't be there, such as a line break in a header. */
  request: (
    text: string,
    fresh: string,
  ) => { method: string; path: string; body?: unknown; headers?: Record<string, string> }
  /** An address has no room for large ones. */
  takes: 'addresses' | 'headers' | 'bodies' | 'json'
}

export const field = (
  name: string,
  takes: HostileField['takes'],
  method: string,
  path: (text: string) => string,
  body?: (text: never, fresh: string) => unknown,
  headers?: (text: string) => Record<string, string>,
): HostileField => ({
  name,
  takes,
  request: (text, fresh) => ({
    method,
    path: path(text),
    ...(body === undefined ? {} : { body: body(text as never, fresh) }),
    ...(headers === undefined ? {} : { headers: headers(text) }),
  }),
})

export const at = (path: string) => () => `/api/v1${path}`
export const inPath =
  (before: string, after = '') =>
  (text: string) =>
    `/api/v1${before}${encodeURIComponent(text.toWellFormed())}${after}`
const run = (name: string, body: (text: string, fresh: string) => object, takes: HostileField['takes'] = 'bodies') =>
  field(name, takes, 'POST', at('/agents/mirror/run'), body as never)
const session = (
  name: string,
  body: (text: string, fresh: string) => object,
  takes: HostileField['takes'] = 'bodies',
) => field(name, takes, 'POST', at('/sessions'), body as never)
const file = (more: object) => ({
  input: {
    parts: [
      { type: 'text', text: 'see' },
      { type: 'file', media_type: 'text/plain', data: 'aGVsbG8=', ...more },
    ],
  },
})
const message = (more: object) => ({
  jsonrpc: '2.0',
  method: 'sendMessage',
  id: '1',
  params: {
    message: { messageId: 'm', role: 'user', agentId: 'mirror', parts: [{ type: 'text', content: 'hi' }], ...more },
  },
})
const a2a = (name: string, more: (text: string, fresh: string) => object) =>
  field(name, 'bodies', 'POST', at('/a2a/sendMessage'), (text: string, fresh: string) => message(more(text, fresh)))

export const hostileFields: HostileField[] = [
  ...['session_id', 'agent_id', 'team_id', 'workflow_id', 'user_id', 'name'].map((key) =>
    session(`${key} of a new session`, (text) => ({ [key]: text })),
  ),
  session('metadata of a new session', (text) => ({ metadata: { text } })),
  session('a key of metadata', (text) => ({ metadata: { [text]: 1 } })),
  session('state of a new session', (text) => ({ state: { text } })),
  session('JSON in metadata', (value) => ({ metadata: { value } }), 'json'),
  session('JSON in the state', (value) => ({ state: { value } }), 'json'),
  field(
    'the key of a new session',
    'headers',
    'POST',
    at('/sessions'),
    () => ({ name: 'n' }),
    (text) => ({
      'Idempotency-Key': text,
    }),
  ),
  field('the name of a session', 'bodies', 'PUT', at('/sessions/known'), (name: string) => ({ name })),
  field('metadata of a session', 'bodies', 'PUT', at('/sessions/known'), (text: string) => ({ metadata: { text } })),
  field('state of a session', 'bodies', 'PUT', at('/sessions/known'), (text: string) => ({ state: { text } })),
  field(
    'an ETag',
    'headers',
    'PUT',
    at('/sessions/known'),
    () => ({ name: 'n' }),
    (text) => ({ 'If-Match': text }),
  ),
  ...['agent_id', 'user_id'].map((key) =>
    field(`${key} of a reuse`, 'bodies', 'POST', at('/sessions/known/reuse'), (text: string) => ({ [key]: text })),
  ),
  field('an earlier owner', 'addresses', 'DELETE', inPath('/sessions/known/shared/agent/')),
  run('an input', (text) => ({ input: text })),
  run('a part of an input', (text) => ({ input: { parts: [{ type: 'text', text }] } })),
  run('data of an input', (text) => ({ input: { parts: [{ type: 'data', data: { text, [text]: text } }] } })),
  run('JSON as input', (value) => ({ input: { parts: [{ type: 'data', data: value }] } }), 'json'),
  run('the session of a run', (text) => ({ input: 'hi', session_id: text })),
  run('the user of a run', (text) => ({ input: 'hi', user_id: text })),
  run('metadata of a run', (text) => ({ input: 'hi', metadata: { text } })),
  run('state of a run', (text) => ({ input: 'hi', state: { text, [text]: 1 } })),
  run('state of a run in a session', (text) => ({ input: 'hi', session_id: 'known', state: { text } })),
  run('history of a run', (text) => ({ input: 'hi', history: [{ role: 'user', content: text }] })),
  run('instructions of a run', (text) => ({ input: 'hi', instructions: text })),
  run('the name of a file', (text) => file({ name: text })),
  run('the media type of a file', (text) => file({ media_type: text })),
  run('the address of a file', (text) => file({ data: undefined, url: `https://example.com/${text}` })),
  run('the run that is replaced', (text) => ({ input: 'hi', session_id: 'known', replaces: text })),
  field(
    'the key of a run',
    'headers',
    'POST',
    at('/agents/mirror/run'),
    () => ({ input: 'hi' }),
    (text) => ({
      'Idempotency-Key': text,
    }),
  ),
  a2a('a message id', (messageId) => ({ messageId })),
  a2a('the role of a message', (role, messageId) => ({ role, messageId })),
  a2a('the context of a message', (contextId, messageId) => ({ contextId, messageId })),
  a2a('the agent of a message', (agentId, messageId) => ({ agentId, messageId })),
  a2a('the text of a message', (content, messageId) => ({ messageId, parts: [{ type: 'text', content }] })),
  a2a('the data of a message', (text, messageId) => ({
    messageId,
    parts: [{ type: 'data', data: JSON.stringify({ text }) }],
  })),
  field('a session that is read', 'addresses', 'GET', inPath('/sessions/')),
  field('a session that is deleted', 'addresses', 'DELETE', inPath('/sessions/')),
  field('a history that is read', 'addresses', 'GET', inPath('/sessions/', '/history')),
  field('a run that is read', 'addresses', 'GET', inPath('/runs/')),
  field('a run that is cancelled', 'addresses', 'POST', inPath('/runs/', '/cancel'), () => ({})),
  field('events that are read', 'addresses', 'GET', inPath('/runs/', '/events')),
  field('a file that is read', 'addresses', 'GET', inPath('/sessions/known/files/')),
  ...['agent_id', 'user_id', 'status', 'updated_before', 'cursor', 'limit'].map((key) =>
    field(`${key} of a list of sessions`, 'addresses', 'GET', inPath(`/sessions?${key}=`)),
  ),
  ...['agent_id', 'session_id', 'parent_run_id', 'cursor'].map((key) =>
    field(`${key} of a list of runs`, 'addresses', 'GET', inPath(`/runs?${key}=`)),
  ),
  field('words that are searched', 'addresses', 'GET', inPath('/messages?q=')),
  field('a user that is searched', 'addresses', 'GET', inPath('/messages?q=hi&user_id=')),
  field('where a search goes on', 'addresses', 'GET', inPath('/messages?q=hi&cursor=')),
  field('a run that a history is before', 'addresses', 'GET', inPath('/sessions/known/history?before=')),
  field('a run that is forked at', 'bodies', 'POST', at('/sessions/known/fork'), (text: string) => ({ run_id: text })),
  field('when sessions are pruned', 'bodies', 'POST', at('/sessions/prune'), (text: string) => ({
    updated_before: text,
  })),
  field('whose sessions are pruned', 'bodies', 'POST', at('/sessions/prune'), (text: string) => ({
    updated_before: '2001-01-01T00:00:00.000Z',
    user_id: text,
  })),
  field('a user that is exported', 'addresses', 'GET', inPath('/users/', '/export')),
  field('a user that is erased', 'addresses', 'DELETE', inPath('/users/')),
]

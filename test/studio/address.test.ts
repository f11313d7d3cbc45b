import { expect, test } from 'vitest'
import { readAddress, writeAddress } from '../../src/studio/state/address/address.ts'

test.each([
  ['', { page: 'chats', filter: {} }],
  ['/s/ses_1', { page: 'chats', sessionId: 'ses_1', filter: {} }],
  ['/s/a%2Fb%3Ac', { page: 'chats', sessionId: 'a/b:c', filter: {} }],
  ['/s/ses_1/r/run_1', { page: 'chats', sessionId: 'ses_1', runId: 'run_1', filter: {} }],
  ['/s/ses_1/r/run_1/e/118', { page: 'chats', sessionId: 'ses_1', runId: 'run_1', seq: 118, filter: {} }],
  ['/new?agent=docs', { page: 'chats', isNew: true, filter: { agent: 'docs' } }],
  ['/r/run_1', { page: 'run', runId: 'run_1' }],
  ['/member/run_1', { page: 'member', runId: 'run_1' }],
  ['?agent=docs&status=failed', { page: 'chats', filter: { agent: 'docs', status: 'failed' } }],
  ['?before=2026-11-23', { page: 'chats', filter: { before: '2026-11-23' } }],
  ['?before=2026-13-45&before=soon', { page: 'chats', filter: {} }],
  [
    '/s/ses_1/r/run_1/e/118?agent=docs&view=prompt',
    { page: 'chats', sessionId: 'ses_1', runId: 'run_1', seq: 118, view: 'prompt', filter: { agent: 'docs' } },
  ],
  [
    '/s/ses_1/r/run_1/e/7?run=run_2',
    { page: 'chats', sessionId: 'ses_1', runId: 'run_1', seq: 7, inside: 'run_2', filter: {} },
  ],
  ['/diff/run_1/run_2', { page: 'diff', runA: 'run_1', runB: 'run_2' }],
  ['/again/run_1', { page: 'again', runId: 'run_1', tries: [] }],
  ['/again/run_1?from=9&try=run_2,run_3', { page: 'again', runId: 'run_1', from: 9, tries: ['run_2', 'run_3'] }],
  ['/again/run_1?from=-1&try=a,b,c,d,e,f', { page: 'again', runId: 'run_1', tries: ['a', 'b', 'c', 'd', 'e'] }],
  ['/search?q=a%20b', { page: 'search', text: 'a b' }],
  ['/search', { page: 'search', text: '' }],
  ['/knowledge', { page: 'knowledge', query: {} }],
  [
    '/knowledge?q=open&filters=%7B%22topic%22%3A1%7D&collection=notes',
    { page: 'knowledge', query: { q: 'open', filters: '{"topic":1}', collection: 'notes' } },
  ],
  [
    '/knowledge/d/doc_1/c/a%2F2?q=open&mode=vector&limit=3',
    { page: 'knowledge', query: { q: 'open', mode: 'vector', limit: 3 }, documentId: 'doc_1', chunkId: 'a/2' },
  ],
  ['/knowledge?limit=-1', { page: 'knowledge', query: {} }],
  ['/agents', { page: 'agents' }],
  ['/agents/my%20agent', { page: 'agents', agentId: 'my agent' }],
  ['/tests', { page: 'tests' }],
  ['/tests/test%2Fhours', { page: 'tests', name: 'test/hours' }],
])('the address %j', (text, address) => {
  const [path = '', search = ''] = text.split('?')
  expect(readAddress(path, search)).toEqual(address)
  const written = writeAddress(readAddress(path, search))
  const [writtenPath = '', writtenSearch = ''] = written.split('?')
  expect(readAddress(writtenPath, writtenSearch)).toEqual(address)
})

test.each([
  '/x',
  '/new/x',
  '/diff',
  '/diff/run_1',
  '/diff/run_1/run_2/x',
  '/again',
  '/again/run_1/x',
  '/agents/a/b',
  '/tests/a/b',
  '/search/x',
  '/knowledge/x',
  '/knowledge/d',
  '/knowledge/d/a/c',
  '/s',
  '/s/a/x',
  '/s/a/r',
  '/s/a/r/b/e',
  '/s/a/r/b/e/x',
  '/s/a/r/b/e/1/more',
  '/s/%E0%A4%A',
  '/r',
])('%s is no address', (path) => {
  expect(readAddress(path, '')).toEqual({ page: 'unknown' })
})

test('a slash at the end and an unknown view change nothing', () => {
  expect(readAddress('/s/ses_1/', '')).toEqual(readAddress('/s/ses_1', ''))
  expect(readAddress('/s/a/r/b/e/1', '?view=nothing')).not.toHaveProperty('view')
})

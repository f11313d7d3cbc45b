import { expect, it } from 'vitest'
import { meantBy } from '../../../src/core/text/idioms.ts'

it.each([
  ['How do I write a transport of my own?', ['custom']],
  ['Can it have its own logger?', ['custom']],
  ['How do I turn the timestamp off?', ['disable']],
  ['Can caching be switched on?', ['enable']],
  ['getting rid of old chats', ['delete', 'remove']],
  ['How large may a body be?', ['size']],
  ['What if a plugin takes too long?', ['timeout']],
  ['How long does it wait?', ['timeout']],
])('%s means %j too', (query, meant) => {
  expect(meantBy(query)).toEqual(meant)
})

it.each([
  'Who owns a session?',
  'Is it on its owner?',
  'Turn left. Is the light off?',
  'How long is a chunk?',
  'a large file',
  'return on error',
  'Was bedeutet eigen?',
])('%s means nothing more', (query) => {
  expect(meantBy(query)).toEqual([])
})

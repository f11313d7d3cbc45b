import { expect, it } from 'vitest'
import { questionParts } from '../../src/models/question-parts.ts'

it.each([
  [
    'How do I create a session token, and how do I revoke every token?',
    ['How do I create a session token', 'how do I revoke every token?'],
  ],
  ['Where are logs stored? How long are logs kept?', ['Where are logs stored', 'How long are logs kept?']],
  ['What is a cursor page, and can I skip pages backwards?', ['What is a cursor page', 'can I skip pages backwards?']],
  ['How do I create a token and how do I revoke it?', ['How do I create a token', 'how do I revoke it (create token)']],
])('splits a question in two parts: %s', (text, parts) => {
  expect(questionParts(text)).toEqual(parts)
})

it.each([
  'How do I start and stop the server?',
  'I know what it is and how it works',
  'Which ports are open?',
  'Why? Because. How? So. When? Now.',
  '',
  '???',
])('leaves one question whole: %s', (text) => {
  expect(questionParts(text)).toEqual([text])
})

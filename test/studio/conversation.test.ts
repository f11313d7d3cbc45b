import { expect, test } from 'vitest'
import type { PageClient } from '../../src/client/page.ts'
import { Conversation } from '../../src/studio/state/conversation.ts'

test('a session that is deleted while it is read stays deleted, and is there again once it is read anew', async () => {
  const held: (() => void)[] = []
  const history = () => new Promise((resolve) => held.push(() => resolve({ runs: [], messages: [], has_more: false })))
  const get = async () => ({ name: null })
  const conversation = new Conversation({ sessions: { history, get } } as unknown as PageClient, 'ses_1', () => {})
  const answer = async () => {
    for (const release of held.splice(0)) release()
    await new Promise(setImmediate)
  }
  conversation.wasDeleted()
  await answer()
  expect(conversation.state.value).toBe('deleted')
  conversation.read()
  await answer()
  expect(conversation.state.value).toBe('ready')
})

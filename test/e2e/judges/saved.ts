import type { UIMessage } from 'ai'
import { expect } from 'vitest'
import { type Chat, loadAi, reloadChat, type Version } from '../../judges/chat.ts'

/** The reload gives what the chat has shown, and each version takes it as its own messages. */
export async function expectSaved(version: Version, api: string, chat: Chat): Promise<void> {
  const { messages, activeRunId } = await reloadChat(api, chat.id)
  const { validateUIMessages } = await loadAi(version)
  const saved = await validateUIMessages({ messages })
  const shown = await validateUIMessages({ messages: structuredClone(chat.messages) })
  const compared = ({ id, role, parts }: UIMessage) => ({ id, role, parts })
  expect(saved.map(compared)).toEqual(shown.map(compared))
  expect(activeRunId).toBeNull()
}

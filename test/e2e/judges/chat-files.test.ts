import type { FileUIPart, UIMessage } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadAi, openChat, reloadChat, textOf, versions } from '../../judges/chat.ts'
import { type JudgedServer, startJudged } from './judged-server.ts'

let judged: JudgedServer
let api: string

beforeAll(async () => {
  judged = await startJudged()
  api = `${judged.url}/api/v1/chat/copier`
})
afterAll(() => judged?.close())

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const dot: FileUIPart = {
  type: 'file',
  mediaType: 'image/png',
  filename: 'dot.png',
  url: `data:image/png;base64,${png.toString('base64')}`,
}
const filesOf = (message: UIMessage | undefined) => (message?.parts ?? []).filter((part) => part.type === 'file')

async function contentOf(part: FileUIPart | undefined): Promise<Buffer> {
  const answer = await fetch(new URL(part?.url ?? '', judged.url))
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

describe.each(versions)('files in useChat of ai %i', (version) => {
  test('are given to the agent, come back with their content, and are in the reload', async () => {
    const chat = await openChat(version, { api })
    await chat.sendMessage({ text: 'Look', files: [dot] })
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    expect(textOf(chat.lastMessage)).toBe('Look: dot.png image/png 8')
    const [shown] = filesOf(chat.lastMessage)
    expect(shown?.mediaType).toBe('image/png')
    expect(await contentOf(shown)).toEqual(png)

    const { validateUIMessages } = await loadAi(version)
    const { messages } = await reloadChat(api, chat.id)
    const [user, answer] = await validateUIMessages({ messages })
    expect(filesOf(user)).toMatchObject([{ mediaType: 'image/png', filename: 'dot.png' }])
    expect(await contentOf(filesOf(user)[0])).toEqual(png)
    // ai 5 does not keep what a file says of itself.
    const plain = (message: UIMessage | undefined) =>
      message?.parts.map((part) => ({ ...part, providerMetadata: undefined }))
    expect(plain(answer)).toEqual(plain((await validateUIMessages({ messages: chat.messages })).at(-1)))
  })

  test('are still there when the page of a reload regenerates, edits, or goes on', async () => {
    const first = await openChat(version, { api })
    await first.sendMessage({ text: 'Look', files: [dot] })
    const { messages } = await reloadChat(api, first.id)
    const chat = await openChat(version, { api, id: first.id, messages })
    await chat.regenerate()
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    expect(textOf(chat.lastMessage)).toBe('Look: dot.png image/png 8')
    expect(chat.lastMessage?.id).not.toBe(first.lastMessage?.id)
    expect(await contentOf(filesOf(chat.lastMessage)[0])).toEqual(png)

    const [user] = chat.messages
    await chat.sendMessage({ text: 'Look again', files: filesOf(user), messageId: user?.id ?? '' })
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    expect(textOf(chat.lastMessage)).toBe('Look again: dot.png image/png 8')
    expect(chat.messages).toHaveLength(2)
    expect((await reloadChat(api, chat.id)).messages.map(textOf)).toEqual(chat.messages.map(textOf))

    await chat.sendMessage({ text: 'And without' })
    expect(textOf(chat.lastMessage)).toBe('And without: ')
  })

  test('that are no files, or too many, are refused with a sentence, and the chat goes on', async () => {
    const chat = await openChat(version, { api })
    await chat.sendMessage({ text: 'Broken', files: [{ ...dot, url: 'data:image/png;base64,%%' }] })
    expect([chat.status, chat.error?.message]).toEqual(['error', expect.stringMatching(/^[^{}]*base64[^{}]*\.$/)])
    chat.messages = []
    await chat.sendMessage({ text: 'Many', files: Array.from({ length: 40 }, () => dot) })
    expect([chat.status, chat.error?.message]).toEqual(['error', expect.stringMatching(/^The message has 40 files/)])
    chat.messages = []
    chat.clearError()
    await chat.sendMessage({ text: 'Fine', files: [dot] })
    expect(textOf(chat.lastMessage)).toBe('Fine: dot.png image/png 8')
    expect((await reloadChat(api, chat.id)).messages).toHaveLength(2)
  })
})

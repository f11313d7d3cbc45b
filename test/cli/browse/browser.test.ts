import { afterEach, describe, expect, it, vi } from 'vitest'
import { type BrowserScreen, SessionBrowser } from '../../../src/cli/browse/browser.ts'
import type { BrowserKey } from '../../../src/cli/browse/keys.ts'
import type { Layout } from '../../../src/cli/browse/line-cache.ts'
import { createClient } from '../../../src/client/create.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { createServer } from '../../../src/server.ts'

const noKey: BrowserKey = {
  leftArrow: false,
  rightArrow: false,
  upArrow: false,
  downArrow: false,
  home: false,
  end: false,
  backspace: false,
  delete: false,
  ctrl: false,
  meta: false,
  return: false,
  escape: false,
  pageUp: false,
  pageDown: false,
}

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const plain: Layout = ({ text }) => text.split('\n')

/** A browser on a server in this process. */
async function open({ layout = plain, sessions = 3 }: { layout?: Layout; sessions?: number } = {}) {
  const server = createServer({ sessionStorage: 'memory', logger: silentLogger })
  server.registerAgent(
    'say',
    agent({
      sideEffects: false,
      async *run({ text }) {
        yield `You said: ${text}`
      },
    }),
  )
  closing.push(() => server.shutdown({ deadline: 0 }))
  const client = createClient({ transport: (request) => server.inject(request) })
  for (let count = 0; count < sessions; count++) {
    await client.agents.run('say', { input: `hello ${count}`, session_id: (await client.sessions.create()).session_id })
  }
  const browser = new SessionBrowser({ client, layout })
  closing.push(() => browser.leave({ interrupted: true }))
  await browser.open()
  browser.resize(80, 20)
  const shows = (check: (screen: BrowserScreen) => boolean) =>
    vi.waitFor(() => expect(check(browser.get())).toBe(true), { timeout: 20_000 })
  const press = (input: string, key: Partial<BrowserKey> = {}) => browser.key(input, { ...noKey, ...key })
  return { browser, client, press, shows, screen: () => browser.get() }
}

describe('SessionBrowser', () => {
  it('takes letters that came at once as so many keys, and what follows a / as words', async () => {
    const { press, shows } = await open()
    press('jj/hello 1')
    await shows(({ dialog, typed }) => dialog === 'search' && typed.text === 'hello 1')
    press('', { escape: true })
    await shows(({ dialog, rows }) => dialog === 'none' && rows[2]?.isSelected === true)
  })

  it('finds nothing else to do where there are no sessions', async () => {
    const { browser, press, shows } = await open({ sessions: 0 })
    press('dc\r')
    await shows(({ rows, dialog, session }) => rows.length === 0 && dialog === 'none' && session === undefined)
    press('q')
    expect(await browser.ended).toEqual({ interrupted: false })
  })

  it('goes on in chat with the agent that answered last', async () => {
    const { browser, press, shows, screen } = await open()
    press('\n')
    await shows(({ session }) => session?.lines.includes('You said: hello 2') === true)
    const sessionId = screen().session?.row.sessionId
    press('c')
    expect(await browser.ended).toEqual({ interrupted: false, chat: { sessionId, agentId: 'say', kind: 'agent' } })
  })

  it('takes a session out of the list that was deleted elsewhere, and says so of one that is open', async () => {
    const { client, press, shows, screen } = await open()
    const [first, second] = screen().rows
    press('\r')
    await shows(({ session }) => session !== undefined)
    for (const row of [first, second]) await client.sessions.delete(row?.sessionId ?? '')
    await shows(({ message }) => message?.includes(first?.sessionId ?? '-') === true)
    press('', { escape: true })
    await shows(({ rows }) => rows.length === 1)
  })

  it('shows runs that have begun since in their order, more than a page of them too', async () => {
    const { client, press, shows, screen } = await open({ sessions: 1 })
    press('\r')
    await shows(({ session }) => session?.lines.includes('You said: hello 0') === true)
    const session_id = screen().session?.row.sessionId ?? ''
    // Nothing more to open, and no reason to stop following.
    press('\r')
    const inputs = Array.from({ length: 25 }, (_, turn) => `later ${turn}`)
    for (const input of inputs) await client.agents.run('say', { input, session_id })
    await shows(({ session }) => session?.lines.includes('You said: later 24') === true)
    const said = () => screen().session?.lines.filter((line) => line.startsWith('You said: ')) ?? []
    const last = ['later 22', 'later 23', 'later 24'].map((text) => `You said: ${text}`)
    await vi.waitFor(() => expect(said().slice(-3)).toEqual(last), 10_000)
    press('g')
    await vi.waitFor(() => expect(said().slice(0, 2)).toEqual(['You said: hello 0', 'You said: later 0']), 10_000)
  })

  it('ends with the error when something can not be drawn', async () => {
    const { browser, press } = await open({
      layout: () => {
        throw new Error('no paper')
      },
    })
    const ended = expect(browser.ended).rejects.toThrow('no paper')
    press('\r')
    await ended
  })
})

import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { render } from 'ink'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TurnEvent } from '../../src/cli/chat-turn.ts'
import { Chat } from '../../src/cli/ui/chat.tsx'

class Terminal extends PassThrough {
  readonly isTTY = true
  readonly columns = 80
  readonly rows = 24
  screen = ''
  setRawMode = () => this
  ref = () => this
  unref = () => this
}

/** A chat on a terminal of our own: keys go in, the screen comes out. */
function open(send: (message: string, signal: AbortSignal) => AsyncIterable<TurnEvent>) {
  const stdin = new Terminal()
  const stdout = new Terminal()
  stdout.on('data', (data: Buffer) => {
    stdout.screen = stripVTControlCharacters(data.toString())
  })
  const stop = new AbortController()
  const app = render(<Chat agentId="docs" send={send} signal={stop.signal} />, {
    stdin,
    stdout,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
    interactive: true,
  })
  opened = app
  const shows = (text: string | RegExp) => vi.waitFor(() => expect(stdout.screen).toMatch(text))
  return { app, stop, shows, press: (keys: string) => void stdin.write(keys), screen: () => stdout.screen }
}

let opened: ReturnType<typeof render> | undefined
afterEach(() => opened?.unmount())

describe('Chat', () => {
  it('streams the answer, then shows its sources', async () => {
    const asked: string[] = []
    const more = Promise.withResolvers<void>()
    const { press, shows } = open(async function* (message) {
      asked.push(message)
      yield { type: 'text', text: 'It listens ' }
      await more.promise
      yield { type: 'text', text: 'on 8080.' }
      const source = {
        type: 'source',
        index: 1,
        source: 'docs/a.md',
        document_id: 'd',
        chunk_id: 'c',
        line_start: 12,
      } as const
      yield { type: 'source', source }
      yield { type: 'end', sessionId: 'ses_1' }
    })
    await shows(/Enter sends/)
    press('which port?')
    await shows(/> which port\?/)
    press('\r')
    await shows(/you\s+which port\?\s+docs\s+It listens\s+>/)
    await shows(/Ctrl-C cancels/)
    more.resolve()
    await shows(/It listens on 8080\.\s+\[1\] docs\/a\.md:12\s+>\s+Enter sends/)
    expect(asked).toEqual(['which port?'])
  })

  it('cancels the answer at the first Ctrl-C, keeps what came, and leaves at the next', async () => {
    const { press, shows, app } = open(async function* (_message, signal) {
      yield { type: 'text', text: 'partial' }
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await shows(/Enter sends/)
    press('hi')
    await shows(/> hi/)
    press('\r')
    await shows(/partial/)
    press('\u0003')
    await shows(/partial\s+Cancelled\./)
    press('\u0003')
    await app.waitUntilExit()
  })

  it('shows why a run failed and goes on', async () => {
    let times = 0
    const { press, shows } = open(async function* () {
      times++
      if (times === 1) throw new Error('No answer from the server')
      yield { type: 'error', message: 'the model is gone' }
    })
    await shows(/Enter sends/)
    for (const reason of [/No answer from the server/, /the model is gone/]) {
      press('hi')
      await shows(/> hi/)
      press('\r')
      await shows(reason)
      await shows(/Enter sends/)
    }
  })

  it('leaves when the program is stopped from outside', async () => {
    const { stop, shows, app } = open(async function* () {})
    await shows(/Enter sends/)
    stop.abort()
    await app.waitUntilExit()
  })
})

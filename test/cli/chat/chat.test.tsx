import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { render } from 'ink'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Chat } from '../../../src/cli/chat/chat.tsx'
import { Conversation } from '../../../src/cli/chat/conversation.ts'
import { paintFor } from '../../../src/cli/terminal/paint.ts'
import { createClient } from '../../../src/client/create.ts'
import type { ClientRequest } from '../../../src/client/transport/transport.ts'

class Terminal extends PassThrough {
  readonly isTTY = true
  readonly columns = 80
  readonly rows = 24
  screen = ''
  setRawMode = () => this
  ref = () => this
  unref = () => this
}

const opened: { close(): void }[] = []
afterEach(() => {
  for (const { close } of opened.splice(0)) close()
})

/** A chat on a terminal of our own, with a server of the dialect that keeps no record: keys go in, the screen comes out. */
function open(answer: (message: string, signal: AbortSignal) => AsyncIterable<object>) {
  const stdin = new Terminal()
  const stdout = new Terminal()
  stdout.on('data', (data: Buffer) => {
    stdout.screen = stripVTControlCharacters(data.toString())
  })
  const stop = new AbortController()
  const client = createClient({ transport: async (request) => respond(request, answer) })
  const conversation = new Conversation(client, { agentId: 'docs', kind: undefined, sessionId: undefined })
  let interrupted = false
  const onInterrupt = () => {
    interrupted = true
  }
  const props = { conversation, paint: paintFor({}, {}), signal: stop.signal, onInterrupt }
  const app = render(<Chat {...props} />, {
    stdin,
    stdout,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
    interactive: true,
  })
  opened.push({
    close() {
      conversation.leave()
      app.unmount()
    },
  })
  const shows = (text: string | RegExp) => vi.waitFor(() => expect(stdout.screen).toMatch(text))
  return {
    app,
    stop,
    shows,
    press: (keys: string) => void stdin.write(keys),
    screen: () => stdout.screen,
    interrupted: () => interrupted,
  }
}

function respond(request: ClientRequest, answer: (message: string, signal: AbortSignal) => AsyncIterable<object>) {
  if (request.method !== 'POST') return { status: 404, headers: {}, body: frames([]) }
  const [part] = JSON.parse(String(request.body)).params.message.parts
  const headers = { 'content-type': 'text/event-stream' }
  return { status: 200, headers, body: frames(answer(part.content, request.signal)) }
}

async function* frames(events: Iterable<object> | AsyncIterable<object>): AsyncGenerator<Uint8Array> {
  for await (const event of events) yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`)
}

const content = (text: string) => ({ type: 'content', content: text })
const done = { type: 'done' }

describe('Chat', () => {
  it('streams the answer of a server that tells nothing but text', async () => {
    const asked: string[] = []
    const more = Promise.withResolvers<void>()
    const { press, shows } = open(async function* (message) {
      asked.push(message)
      yield content('It **listens** ')
      await more.promise
      yield content('on 8080.')
      yield done
    })
    await shows(/Enter sends/)
    press('which port?\r')
    await shows(/> which port\?\s+docs\s+It listens\s+>/)
    await shows(/Ctrl-C cancels/)
    more.resolve()
    await shows(/It listens on 8080\.\s+\d+ ms\s+>\s+Enter sends/)
    expect(asked).toEqual(['which port?'])
  })

  it('cancels the answer at the first Ctrl-C, keeps what came, and leaves at the next', async () => {
    const { press, shows, app } = open(async function* (_message, signal) {
      yield content('partial')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await shows(/Enter sends/)
    press('hi\r')
    await shows(/partial/)
    press('\u0003')
    await shows(/partial\s+Cancelled\./)
    press('\u0003')
    await app.waitUntilExit()
  })

  it('clears a draft at the first Ctrl-C, brings it back with Up, and leaves at two', async () => {
    const { press, shows, app, interrupted } = open(async function* () {})
    await shows(/Enter sends/)
    press('a long draft')
    await shows(/> a long draft/)
    press('\u0003')
    await shows(/>\s+Enter sends/)
    press('\u001b[A')
    await shows(/> a long draft/)
    expect(interrupted()).toBe(false)
    press('\u0003')
    await shows(/>\s+Enter sends/)
    press('\u0003')
    await app.waitUntilExit()
    expect(interrupted()).toBe(true)
  })

  it('cancels the answer and keeps the draft among what was typed, at one Ctrl-C', async () => {
    const { press, shows } = open(async function* (_message, signal) {
      yield content('partial')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await shows(/Enter sends/)
    press('hi\r')
    await shows(/partial/)
    press('next')
    await shows(/> next/)
    press('\u0003')
    await shows(/partial\s+Cancelled\.\s+>\s+Enter sends/)
    press('\u001b[A')
    await shows(/> next/)
  })

  it('shows why a run failed and goes on', async () => {
    const { press, shows } = open(async function* () {
      yield content('half')
      yield { type: 'error', code: -32603, message: 'the model is\u001b[2J gone' }
      yield done
    })
    await shows(/Enter sends/)
    for (let turn = 0; turn < 2; turn++) {
      press('hi\r')
      await shows(/the model is gone\s+\d+ ms\s+>\s+Enter sends/)
    }
  })

  it('sends several lines, typed in every way and pasted, and brings them back', async () => {
    const asked: string[] = []
    const { press, shows } = open(async function* (message) {
      asked.push(message)
      yield content('ok')
      yield done
    })
    await shows(/Enter sends/)
    press('a\\')
    await shows(/> a\\/)
    press('\r')
    await shows(/> a *\n/)
    for (const keys of ['b', '\u001b\r', 'c', '\u001b[13;2u', 'd', '\u001b\r']) press(keys)
    press('\u001b[200~e\r\nf\r\u001b[201~')
    press('g\r')
    await shows(/ok\s+\d+ ms/)
    press('one\rtwo')
    await shows(/> one\n {2}two/)
    press('\r')
    await vi.waitFor(() => expect(asked).toEqual(['a\nb\nc\nd\ne\nf\ng', 'one\ntwo']))
    await shows(/two\s+docs\s+ok\s+\d+ ms\s+>\s+Enter sends/)
    press('draft')
    await shows(/> draft/)
    press('\u001b[A')
    await shows(/> one\n {2}two\s+Enter sends/)
    press('\u001b[B')
    await shows(/> draft/)
  })

  it('leaves when the program is stopped from outside', async () => {
    const { stop, shows, app } = open(async function* () {})
    await shows(/Enter sends/)
    stop.abort()
    await app.waitUntilExit()
  })
})

import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty, type Pty, type PtyOptions } from '../../support/pty.ts'

let project: Project
let server: RunningServer
let terminal: Pty | undefined

const config = String.raw`
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'

/** Until the test has put the file there. */
async function wait(name, signal) {
  while (!existsSync(name)) await sleep(20, undefined, { signal })
}

export default defineConfig({
  agents: {
    say: agent({
      async *run({ text, signal }) {
        if (text === 'wait') {
          yield 'First part. '
          await wait('go', signal)
          yield 'Second part.'
        } else if (text === 'tools') {
          yield 'Let me look.\n\n'
          yield { type: 'tool_call', call_id: 'c1', name: 'look', input: { at: 'it' } }
          yield { type: 'tool_result', call_id: 'c1', name: 'look', output: 1, duration_ms: 12 }
          yield 'It is **one**.'
        } else if (text.startsWith('read ')) yield readFileSync(text.slice(5), 'utf8')
        else if (text === 'fail') throw new Error('no')
        else yield 'You said: ' + text
      },
    }),
  },
})
`

beforeEach(async () => {
  project = await createProject({ 'agent.config.ts': config })
  server = await serve(project, 'start')
})
afterEach(async () => {
  await terminal?.close()
  terminal = undefined
  await server.stop()
  await project.remove()
})

async function browse(args: string[] = [], options: PtyOptions = {}): Promise<Pty> {
  terminal = openPty(project, ['sessions', ...args], { columns: 100, rows: 24, ...options })
  await terminal.until(/\? help|Esc back/)
  return terminal
}

async function post(path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${server.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  await answer.text()
}

const run = (session: string, input: string, more = {}) =>
  post('/agents/say/run', { session_id: session, input, ...more })

async function talk(session: string, name: string | undefined, inputs: string[]): Promise<void> {
  await post('/sessions', { session_id: session, name, agent_id: 'say' })
  for (const input of inputs) await run(session, input)
}

const seen = (text: string | RegExp) => (pty: Pty) => {
  const screen = pty.screen().join('\n')
  return typeof text === 'string' ? screen.includes(text) : text.test(screen)
}

test('lists sessions with what was said last, opens one, scrolls, and goes back', async () => {
  await talk('a', 'Opening hours', ['one', 'two'])
  await talk('b', undefined, ['tools', 'fail'])
  const pty = await browse()
  await pty.until(
    seen(
      /^Sessions +1 of 2\n\n› tools +now\n {4}say · 2 runs · failed {2}> fail\n {2}Opening hours +now\n {4}say · 2 runs {2}You said: two$/m,
    ),
  )
  pty.send('\r')
  await pty.until(
    seen(
      /> tools\n+say\n+Let me look\.\n {2}✓ look {"at":"it"} 12 ms\n+It is one\.\n {2}[-\d]+ [:\d]+ · completed · \d/,
    ),
  )
  await pty.until(seen(/> fail\n+say\nThe agent threw an error/))
  pty.send('\x1b')
  await pty.until(seen('/ filter'))
  pty.send('\x1b[B\r')
  await pty.until(seen(/^Opening hours +a\n[\s\S]*You said: one[\s\S]*You said: two/))
  pty.send('q')
  expect(await pty.exited).toEqual({ code: 0, signal: 0 })
})

test('reads a long session page by page while one scrolls, in both directions', async () => {
  await talk(
    'long',
    undefined,
    Array.from({ length: 130 }, (_, turn) => `turn ${turn}`),
  )
  const pty = await browse()
  pty.send('\r')
  await pty.until(seen('You said: turn 129'))
  for (let turn = 128; turn > 100; turn--) {
    const isReached = () => {
      const reached = seen(`> turn ${turn}\n`)(pty)
      if (!reached) pty.send('k')
      return reached
    }
    await expect.poll(isReached, { timeout: 10_000, interval: 20 }).toBe(true)
  }
  pty.send('g')
  await pty.until(seen(/^\n?.*\n+> turn 0\n[\s\S]*You said: turn 0$/m))
  await pty.until((now) => !seen('…')(now))
  pty.send('G')
  await pty.until(seen('You said: turn 129'))
})

test('finds words in all conversations, and opens a session where they were said', async () => {
  const turns = Array.from({ length: 30 }, (_, turn) => (turn === 3 ? 'about the refund' : `turn ${turn}`))
  await talk('long', 'Long talk', turns)
  await talk('other', undefined, ['nothing of the kind'])
  const pty = await browse()
  pty.send('/')
  await pty.until(seen(/^Filter: /m))
  pty.send('refnd')
  await pty.until(seen('Nothing found.'))
  pty.send('\x1b[D\x1b[D')
  pty.send('u')
  await pty.until(seen('Filter: refund'))
  await pty.until(
    seen(/^Found: refund +1 of 2\n\n› Long talk +now\n {4}say {2}You said: about the refund\n[\s\S]*Filter: refund/),
  )
  pty.send('\r')
  await pty.until(seen('Enter opens'))
  await pty.until(seen(/^ {2}Long talk +now\n {4}say {2}> about the refund$/m))
  pty.send('\r')
  await pty.until(seen(/^Long talk .*more below.*\n\n+> about the refund\n[\s\S]*You said: turn 4/))
  await expect.poll(() => marked(pty)).toEqual(['refund', 'refund'])
  pty.send('\x1b')
  await pty.until(seen(/^Found: refund/))
  pty.send('\x1b')
  await pty.until(seen(/^Sessions[\s\S]*› nothing of the kind/))
  pty.send('/unheard\r')
  await pty.until(seen('Nothing found.'))
})

/** The words on the screen that are drawn in inverse colours. */
function marked(pty: Pty): string[] {
  const buffer = pty.buffer()
  const words: string[] = []
  for (let row = 0; row < 24; row++) {
    let word = ''
    for (let column = 0; column <= 100; column++) {
      const cell = buffer.getLine(buffer.baseY + row)?.getCell(column)
      if (cell?.isInverse()) word += cell.getChars()
      else {
        if (word !== '') words.push(word)
        word = ''
      }
    }
  }
  return words
}

test('opens a message deep in a long answer at the words that were found', async () => {
  const answer = Array.from({ length: 300 }, (_, line) =>
    line === 200 ? 'the **lighthouse** stands here' : `line ${line}`,
  )
  await project.write('answer.md', answer.join('\n\n'))
  await talk('deep', undefined, ['first', 'read answer.md', 'last'])
  const pty = await browse()
  pty.send('/lightho')
  await pty.until(seen(/^Found: lightho +1 of 1\n\n› first +now\n {4}say {2}.*the lighthouse stands here/))
  pty.send('\r')
  await pty.until(seen('Enter opens'))
  pty.send('\r')
  await pty.until(seen(/^first .*more below.*\n\n+line 199\n\n+the lighthouse stands here\n\nline 201\n/))
  await expect.poll(() => marked(pty)).toEqual(['lightho'])
})

test('shows what was said as words, not as Markdown, and a title for each session', async () => {
  await project.write(
    'answer.md',
    '# Ports\n\n- **One** is `8080`\n- see [the docs](http://x.test)\n\n| a | b |\n|---|---|\n| c | d |\n',
  )
  await talk('0190-id', undefined, ['read answer.md'])
  await post('/sessions', { session_id: 'empty-id', agent_id: 'say' })
  const pty = await browse()
  await pty.until(seen(/^› Untitled +now\n {4}say · 0 runs *\n {2}read answer\.md +now\n/m))
  await pty.until(seen('Ports One is 8080 see the docs a · b c · d'))
  expect(seen(/-id/)(pty)).toBe(false)
})

test('goes to the very last session with End, and back with Home', async () => {
  const lines = Array.from({ length: 260 }, (_, place) =>
    post('/sessions', { session_id: `s${place}`, name: `Number ${place}` }),
  )
  await Promise.all(lines)
  await talk('newest', 'Newest', ['x'])
  const pty = await browse()
  await pty.until(seen(/^Sessions +1 of 261\n\n› Newest/))
  pty.send('\x1b[F')
  await pty.until(seen(/^Sessions +261 of 261\n[\s\S]*\n› Number \d+ +\S+\n[^›]*$/))
  pty.send('\x1b[H')
  await pty.until(seen(/^Sessions +1 of 261\n\n› Newest/))
  pty.send('/Number 259')
  await pty.until(seen(/^Found: Number 259 +1 of 1\n\n› Number 259/))
  pty.send('\x1b')
  await pty.until(seen(/^Sessions +1 of 261\n\n› Newest/))
})

test('follows a run that is at work, and one that begins while the session is open', async () => {
  await talk('live', undefined, [])
  await run('live', 'wait', { background: true })
  const pty = await browse()
  await pty.until(seen('running'))
  pty.send('\r')
  await pty.until(seen(/^wait +live · /))
  await pty.until(seen(/^First part\./m))
  expect(seen('Second part.')(pty)).toBe(false)
  await project.write('go', '')
  await pty.until(seen(/First part\. Second part\.\n {2}.* · completed/))
  await run('live', 'later')
  await pty.until(seen('You said: later'))
})

test('says that the server is gone, and goes on when it is back', async () => {
  await talk('cut', undefined, ['hello'])
  await run('cut', 'wait', { background: true })
  const pty = await browse(['--url', server.url])
  pty.send('\r')
  await pty.until(seen(/^First part\./m))
  const { port } = new URL(server.url)
  await server.kill()
  await pty.until(seen('Connection lost, retrying'))
  pty.send('\x1b')
  await pty.until(seen(/^› hello/m))
  pty.send('\r')
  server = await serve(project, 'start', ['--port', port])
  await pty.until(seen(/^First part\. *\n {2}.* · interrupted/m))
  await pty.until((now) => !seen('Connection lost')(now))
  await run('cut', 'again')
  await pty.until(seen('You said: again'))
})

test('deletes a session when its user says yes', async () => {
  await talk('kept', 'Kept', ['x'])
  await talk('gone', 'Gone', ['x'])
  const pty = await browse()
  pty.send('d')
  await pty.until(seen('Delete permanently? y or n  Gone'))
  pty.send('n')
  await pty.until(seen('Nothing was deleted.'))
  pty.send('\r')
  await pty.until(seen('You said: x'))
  pty.send('d')
  await pty.until(seen('Delete permanently?'))
  pty.send('y')
  await pty.until(seen(/^› Kept[\s\S]*Deleted Gone\./m))
  expect(seen(/^ *Gone/m)(pty)).toBe(false)
  const answer = await fetch(`${server.url}/api/v1/sessions/gone`)
  expect(answer.status).toBe(404)
})

test('goes on with a session in chat', async () => {
  await talk('talk', undefined, ['hello'])
  const pty = await browse()
  pty.send('c')
  await pty.until(/> hello\n+say\n+You said: hello[\s\S]*Enter sends/)
  pty.send('more\r')
  await pty.until('You said: more')
  pty.send('\x04')
  await pty.until(/Continue with: agentserve chat say --session talk/)
  expect(await pty.exited).toEqual({ code: 0, signal: 0 })
})

test.each([40, 120])(
  'fits %i columns without colours, and a terminal that is made narrower and wider',
  async (columns) => {
    await talk('wide', `A name ${'that is long '.repeat(20)}`, [
      'tools',
      `${'words that have to be wrapped '.repeat(8)}end`,
    ])
    const pty = await browse([], { columns, rows: 14, env: { NO_COLOR: '1' } })
    await pty.until(seen(/^› A name that is long/m))
    await pty.until(seen('say · 2 runs  You said'))
    const whole = (now: Pty, width: number) => {
      const screen = now.screen()
      return (
        screen.length === 14 &&
        screen.every((line) => line.length <= width) &&
        screen[13]?.startsWith('? help') === true
      )
    }
    await pty.until((now) => whole(now, columns))
    pty.send('\r')
    await pty.until(seen(/wrapped end\n {2}.* · completed/))
    for (const width of [30, 90, 40]) {
      pty.resize(width, 14)
      await pty.until((now) => whole(now, width) && seen(/\bend\n {2}/)(now) && seen(/^A name/)(now))
    }
    pty.resize(60, 8)
    await pty.until((now) => now.screen()[7]?.startsWith('? help') === true && seen(/\bend\n {2}/)(now))
    expect(
      pty
        .raw()
        .split('\x1b')
        .filter((part) => /^\[(?:3|9)[0-7]m/.test(part)),
    ).toEqual([])
  },
)

test('shows the keys, and leaves the terminal as it was, however it is left', async () => {
  await talk('a', undefined, ['hello'])
  const ways: [(pty: Pty) => void, number][] = [
    [(pty) => pty.send('q'), 0],
    [(pty) => pty.send('\x1b'), 0],
    [(pty) => pty.send('\x03'), 130],
    [(pty) => pty.kill('SIGTERM'), 130],
  ]
  for (const [leave, code] of ways) {
    const pty = await browse()
    pty.send('?')
    await pty.until(seen(/continue the session in chat[\s\S]*Any key goes back/))
    pty.send(' ')
    await pty.until(seen('Enter opens'))
    leave(pty)
    expect(await pty.exited).toEqual({ code, signal: 0 })
    const raw = pty.raw()
    expect(raw.lastIndexOf('\x1b[?1049l')).toBeGreaterThan(raw.lastIndexOf('\x1b[?1049h'))
    expect(raw.lastIndexOf('\x1b[?25h')).toBeGreaterThan(raw.lastIndexOf('\x1b[?25l'))
    expect(raw.lastIndexOf('\x1b[?7h')).toBeGreaterThan(raw.lastIndexOf('\x1b[?7l'))
    expect(pty.text()).toBe('')
    await pty.close()
  }
})

test('does not begin without a server, and says why on the terminal itself', async () => {
  terminal = openPty(project, ['sessions', '--url', 'http://127.0.0.1:9'])
  expect(await terminal.exited).toEqual({ code: 1, signal: 0 })
  expect(terminal.text()).toMatch(/^No answer from http:\/\/127\.0\.0\.1:9: nothing listens there/)
  expect(terminal.raw()).not.toContain('\x1b[?1049h')
})

test('prints the list where a flag asks for it', async () => {
  await talk('a', undefined, ['hello'])
  terminal = openPty(project, ['sessions', '--limit', '1'])
  await terminal.exited
  expect(terminal.text()).toMatch(/^SESSION +AGENT/)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { render, renderToString } from 'ink'
import type { Client } from '../../client/client.ts'
import { describeError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { withoutAutoWrap } from '../terminal/auto-wrap.ts'
import { hint } from '../terminal/called-as.ts'
import { divertSaid, say } from '../terminal/output.ts'
import { paintFor } from '../terminal/paint.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import type { Welcome } from '../welcome/welcome.ts'
import { Chat } from './chat.tsx'
import { Conversation, type ConversationOptions } from './conversation.ts'
import { InputHistory } from './line/history.ts'

export interface TerminalChat extends Omit<ConversationOptions, 'history'> {
  /** With what was typed in chats before; not made where its folder is not there. */
  historyFile?: string | undefined
  /** What a new user sees first. */
  welcome?: Welcome | undefined
  signal: AbortSignal
}

/** Runs the chat until the user leaves, then prints how to continue the session. Gives the exit code. */
export async function chatOnTerminal(
  client: Client,
  { signal, historyFile, welcome, ...options }: TerminalChat,
): Promise<number> {
  const history = historyFile === undefined ? undefined : await InputHistory.read(historyFile)
  const conversation = new Conversation(client, { ...options, history })
  if (conversation.begun) await conversation.open(signal)
  await conversation.meet(signal)
  const { stdout } = process
  const restore = divertSaid((text) => conversation.note(terminalText(text.trimEnd())))
  if (welcome !== undefined) showWelcome(welcome, conversation)
  let interrupted = false
  const onInterrupt = () => {
    interrupted = true
  }
  await withoutAutoWrap(stdout, async () => {
    const app = render(<Chat {...{ conversation, welcome, signal, paint: paintFor(stdout), onInterrupt }} />, {
      exitOnCtrlC: false,
      interactive: true,
      incrementalRendering: true,
      kittyKeyboard: { mode: 'auto' },
    })
    void warmUp()
    await app.waitUntilExit()
    await conversation.history.written()
  }).finally(async () => {
    restore()
    await welcome?.close()
  })
  const { agentId, sessionId, begun } = conversation
  if (begun) say(`Continue with: ${hint(`chat ${terminalLine(agentId)} --session ${terminalLine(sessionId)}`)}`)
  return interrupted || signal.aborted ? exit.interrupted : exit.ok
}

function showWelcome(welcome: Welcome, { screen, sessionId }: Conversation): void {
  const { title, rows } = welcome.header(sessionId)
  screen.say('name', title)
  screen.say('note', rows)
  void welcome.begin((text) => screen.say('note', terminalText(text)), describeError)
}

const sample = [
  '# A *b*',
  'A **b** `c` [d](http://e)',
  '- a\n- b',
  '1. a',
  '> a',
  '~~~ts\nconst a = 1\n~~~',
  '|a|\n|-|\n|b|',
]

/** Draws one entry of each kind while the terminal is idle: the first drawing of each takes several times as long. */
async function warmUp(): Promise<void> {
  const paint = paintFor({})
  for (const text of [...sample, ...sample]) {
    await sleep(20)
    renderToString(<Markdown text={text} columns={80} paint={paint} />)
  }
}

import { render } from 'ink'
import type { Client } from '../../client/client.ts'
import { Conversation, type ConversationOptions } from '../chat-conversation.ts'
import { say } from '../output.ts'
import { paintFor } from '../paint.ts'
import { terminalLine } from '../terminal-text.ts'
import { withoutAutoWrap } from './auto-wrap.ts'
import { Chat } from './chat.tsx'

export interface TerminalChat extends ConversationOptions {
  signal: AbortSignal
}

/** The chat on a terminal, until its user leaves; says then how to go on with the session. */
export async function chatOnTerminal(client: Client, { signal, ...options }: TerminalChat): Promise<void> {
  const conversation = new Conversation(client, options)
  if (conversation.begun) await conversation.open(signal)
  const { stdout } = process
  await withoutAutoWrap(stdout, async () => {
    const app = render(<Chat conversation={conversation} paint={paintFor(stdout)} signal={signal} />, {
      exitOnCtrlC: false,
      interactive: true,
      incrementalRendering: true,
      kittyKeyboard: { mode: 'auto' },
    })
    await app.waitUntilExit()
  })
  const { agentId, sessionId, begun } = conversation
  if (begun) say(`Go on with: agentserve chat ${terminalLine(agentId)} --session ${terminalLine(sessionId)}`)
}

import { render } from 'ink'
import type { Client } from '../../client/client.ts'
import { runTurn } from '../chat-turn.ts'
import { say } from '../output.ts'
import { terminalLine } from '../terminal-text.ts'
import { Chat } from './chat.tsx'

export interface TerminalChat {
  agentId: string
  sessionId: string | undefined
  signal: AbortSignal
}

/** The chat on a terminal, until its user leaves; says then how to go on with the session. */
export async function chatOnTerminal(
  client: Client,
  { agentId, sessionId: first, signal }: TerminalChat,
): Promise<void> {
  let sessionId = first
  async function* send(message: string, cancelled: AbortSignal) {
    for await (const event of runTurn(client, { agentId, message, sessionId, signal: cancelled })) {
      if (event.type === 'end') sessionId = event.sessionId
      yield event
    }
  }
  const name = terminalLine(agentId)
  const app = render(<Chat agentId={name} send={send} signal={signal} />, { exitOnCtrlC: false })
  await app.waitUntilExit()
  if (sessionId !== undefined) say(`Go on with: agentserve chat ${name} --session ${terminalLine(sessionId)}`)
}

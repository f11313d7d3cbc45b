import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import { isEnded } from '../../core/run.ts'
import { saidAsMarkdown, saidIn } from '../terminal/message-text.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import type { InputHistory } from './line/history.ts'
import type { ChatScreen } from './screen.ts'

const shownInteractions = 20

export interface Past {
  client: Client
  screen: ChatScreen
  history: InputHistory
  agentId: string
  sessionId: string
}

/** Shows the latest messages of a session. Gives its last run that has ended. */
export async function showPast(past: Past, signal: AbortSignal | undefined): Promise<string | undefined> {
  const { client, screen, sessionId } = past
  const history = await client.sessions.history(sessionId, { interactions: shownInteractions, signal })
  if (history.has_more) screen.say('note', 'There are earlier messages. /save writes all of them to a file.')
  for (const { role, content, parts, run_id } of history.messages) {
    const said = role === 'user' ? saidIn(parts) : saidAsMarkdown(parts)
    const text = terminalText(said).replaceAll('\t', '    ')
    if (role === 'user') {
      if (content !== '') past.history.see(terminalText(content).replaceAll('\t', '    '))
      screen.say('user', text)
      continue
    }
    const run = history.runs.find((one) => one.run_id === run_id)
    screen.say('name', terminalLine(run?.entity_id ?? past.agentId))
    screen.begin(0)
    await screen.text(text)
    screen.end()
    if (run !== undefined && run.status !== 'completed') screen.say('note', `The run is ${run.status}.`)
  }
  return history.runs.findLast(({ status }) => isEnded(status))?.run_id
}

/** Whether there was a session to read. */
export async function isThere(reading: Promise<void>): Promise<boolean> {
  try {
    await reading
    return true
  } catch (error) {
    if (!isAppError(error) || !/^(session|route)_not_found$/.test(error.code)) throw error
    return false
  }
}

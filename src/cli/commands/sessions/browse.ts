import { UsageError } from '../../command/exit.ts'
import { exit } from '../../command/exit-codes.ts'
import { hasTerminal } from '../../terminal/has-terminal.ts'
import type { SessionsAction, SessionsOptions } from './action.ts'

const connectFlags = new Set(['config', 'data', 'url', 'key', 'plain'])

/** Whether `sessions` opens the browser: in a terminal, without flags that ask for a list. */
export function opensBrowser(options: SessionsOptions): boolean {
  return hasTerminal() && Object.keys(options).every((flag) => connectFlags.has(flag))
}

export const browseSessions: SessionsAction = ({ withClient, signal }) => {
  if (!hasTerminal()) throw new UsageError('sessions browse needs a terminal. Use sessions list instead.')
  return withClient(async (client) => {
    const { browseOnTerminal } = await import('../../browse/terminal.tsx')
    const { interrupted, chat } = await browseOnTerminal(client, signal)
    if (chat !== undefined) {
      const { chatOnTerminal } = await import('../../chat/terminal.tsx')
      return chatOnTerminal(client, { ...chat, signal })
    }
    return interrupted ? exit.interrupted : exit.ok
  })
}

import { UsageError } from '../../command/exit.ts'
import { exit } from '../../command/exit-codes.ts'
import { importUi } from '../../terminal/import-ui.ts'
import type { SessionsAction, SessionsOptions } from './action.ts'

const connectFlags = new Set(['config', 'data', 'url', 'key'])

/** Whether `sessions` opens the browser: in a terminal, without flags that ask for a list. */
export function opensBrowser(options: SessionsOptions): boolean {
  return isTerminal() && Object.keys(options).every((flag) => connectFlags.has(flag))
}

function isTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY
}

export const browseSessions: SessionsAction = ({ withClient, signal }) => {
  if (!isTerminal()) throw new UsageError('sessions browse needs a terminal. Use sessions list instead.')
  return withClient(async (client) => {
    const { browseOnTerminal } = await importUi(() => import('../../browse/terminal.tsx'))
    const { interrupted, chat } = await browseOnTerminal(client, signal)
    if (chat !== undefined) {
      const { chatOnTerminal } = await importUi(() => import('../../chat/terminal.tsx'))
      return chatOnTerminal(client, { ...chat, signal })
    }
    return interrupted ? exit.interrupted : exit.ok
  })
}

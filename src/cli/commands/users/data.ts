import type { Client } from '../../../client/client.ts'
import { isAppError } from '../../../core/error.ts'
import { UsageError } from '../../command/exit.ts'
import { exit } from '../../command/exit-codes.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { printJson, say, write } from '../../terminal/output.ts'
import { terminalLine, terminalText } from '../../terminal/text.ts'
import { writeFile } from '../sessions/export.ts'
import type { UserCall } from './facts.ts'

export async function exportUser({ withClient, userId, signal }: UserCall, output?: string): Promise<undefined> {
  await withClient(async ({ users }) => {
    const lines = linesOf(await users.export(userId, { signal }))
    if (output !== undefined) {
      const count = await writeFile(output, lines, signal)
      say(`Wrote ${count} lines to ${terminalLine(output)}.`)
      return
    }
    const safe = process.stdout.isTTY ? terminalText : (text: string) => text
    for await (const line of lines) await write(safe(line))
  })
}

export async function eraseUser(call: UserCall, yes: boolean | undefined): Promise<number | undefined> {
  const { withClient, userId, json, signal } = call
  if (!yes) {
    if (!canAsk()) throw new UsageError("Can't ask for confirmation without a terminal. Use --yes to erase.")
    const question = `Erase every session, run and fact of '${terminalLine(userId)}'? It can't be undone.`
    if (!(await confirm(question, signal))) {
      say('Nothing was erased.')
      return exit.failure
    }
  }
  await withClient((client) => erase(client, userId, signal))
  if (json) printJson({ user_id: userId, erased: true })
  else say(`Erased all data of '${terminalLine(userId)}'.`)
  return undefined
}

async function* linesOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

/** A server answers within its time limit and continues at the next call. */
async function erase(client: Client, userId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await client.users.erase(userId, { signal })
    } catch (error) {
      if (!isAppError(error) || error.code !== 'timeout') throw error
    }
  }
}

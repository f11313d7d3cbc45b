import { Argument } from 'commander'
import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import { UsageError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { addConnectFlags, type ConnectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { canAsk, confirm } from '../terminal/confirm.ts'
import { printJson, say, write } from '../terminal/output.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import { writeFile } from './sessions/export.ts'

interface UsersOptions extends ConnectOptions {
  yes?: boolean
  output?: string
}

export const command: CommandModule<UsersOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('<action>', 'the action').choices(['export', 'erase']))
      .argument('<user>', 'the user_id of the sessions and runs')
      .option(
        '--output <file>',
        'with export: the output file; an existing file is never overwritten (default: stdout)',
      )
      .option('--yes', "with erase: don't ask for confirmation"),
  async run(context, options, action = '', userId = '') {
    const { signal } = context
    if (action === 'export') {
      if (options.yes) throw new UsageError('--yes can only be used with erase.')
      await withClient(options, context, async ({ users }) => {
        const lines = linesOf(await users.export(userId, { signal }))
        if (options.output !== undefined) {
          const count = await writeFile(options.output, lines, signal)
          say(`Wrote ${count} lines to ${terminalLine(options.output)}.`)
          return
        }
        const safe = process.stdout.isTTY ? terminalText : (text: string) => text
        for await (const line of lines) await write(safe(line))
      })
      return undefined
    }
    if (options.output !== undefined) throw new UsageError('--output can only be used with export.')
    if (!options.yes) {
      if (!canAsk()) throw new UsageError("Can't ask for confirmation without a terminal. Use --yes to erase.")
      const question = `Erase every session and run of '${terminalLine(userId)}'? It can't be undone.`
      if (!(await confirm(question, signal))) {
        say('Nothing was erased.')
        return exit.failure
      }
    }
    await withClient(options, context, (client) => erase(client, userId, signal))
    if (options.json) printJson({ user_id: userId, erased: true })
    else say(`Erased all data of '${terminalLine(userId)}'.`)
    return undefined
  },
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

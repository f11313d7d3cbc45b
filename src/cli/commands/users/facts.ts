import type { Client } from '../../../client/client.ts'
import { UsageError } from '../../command/exit.ts'
import { exit } from '../../command/exit-codes.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { printJson, say, write } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { terminalJson, terminalLine } from '../../terminal/text.ts'
import { tableTime } from '../../terminal/when.ts'

export interface UserCall {
  withClient(use: (client: Client) => Promise<void>): Promise<void>
  userId: string
  json: boolean | undefined
  signal: AbortSignal
}

export async function listFacts({ withClient, userId, json, signal }: UserCall): Promise<undefined> {
  await withClient(async ({ users }) => {
    const { facts } = await users.facts.list(userId, { signal })
    if (json) return write(facts.map((fact) => `${terminalJson(fact)}\n`).join(''))
    if (facts.length === 0) return say(`Nothing is remembered about '${terminalLine(userId)}'.`)
    const rows = facts.map(({ fact_id, content, agent_id, created_at }) => [
      ...[fact_id, content, agent_id, tableTime(created_at)],
    ])
    await write(formatTable(['FACT', 'CONTENT', 'AGENT', 'REMEMBERED'], rows))
  })
}

/** One fact, or after a question all of them. */
export async function forgetFacts(
  { withClient, userId, json, signal }: UserCall,
  factId: string | undefined,
  yes: boolean | undefined,
): Promise<number | undefined> {
  if (factId === undefined && !yes) {
    if (!canAsk()) {
      throw new UsageError("Can't ask for confirmation without a terminal. Name a fact, or use --yes to forget all.")
    }
    const question = `Forget everything that is remembered about '${terminalLine(userId)}'? It can't be undone.`
    if (!(await confirm(question, signal))) {
      say('Nothing was forgotten.')
      return exit.failure
    }
  }
  await withClient(async ({ users }) => {
    if (factId === undefined) {
      const answer = await users.facts.deleteAll(userId, { signal })
      if (json) printJson(answer)
      else say(`Forgot ${answer.deleted} ${answer.deleted === 1 ? 'fact' : 'facts'} about '${terminalLine(userId)}'.`)
      return
    }
    await users.facts.delete(userId, factId, { signal })
    if (json) printJson({ user_id: userId, fact_id: factId, deleted: true })
    else say(`Forgot ${terminalLine(factId)}.`)
  })
  return undefined
}

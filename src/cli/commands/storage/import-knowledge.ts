import type { ResolvedConfig } from '../../../config/types.ts'
import { importKnowledge, type Moved } from '../../../server/knowledge/import.ts'
import { exit } from '../../command/exit-codes.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { createProgress } from '../../terminal/progress.ts'
import { formatTable } from '../../terminal/table.ts'
import { terminalLine } from '../../terminal/text.ts'

export async function showImport(
  config: ResolvedConfig,
  { from: folder, json, signal }: { from: string | undefined; json: boolean; signal: AbortSignal },
): Promise<number> {
  const bar = createProgress()
  const progress = (done: number, total: number) => bar.update(done, total, 'chunks')
  const result = await importKnowledge(config, { folder, signal, progress }).finally(() => bar.end())
  if (json) printJson(result)
  else {
    const { from, to, collections } = result
    say(terminalLine(`Copied from ${from} to ${to}:`))
    print(formatTable(['COLLECTION', 'COPIED', 'UNCHANGED', 'KEPT', 'PENDING'], collections.map(rowOf)))
    if (collections.some(({ kept }) => kept > 0)) say('Kept: a newer version of the source is there already.')
    if (collections.some(({ pending }) => pending > 0))
      say('Pending: vectors are missing. A server writes them when the knowledge base is used.')
  }
  return exit.ok
}

function rowOf({ collection, copied, unchanged, kept, pending }: Moved): string[] {
  return [terminalLine(collection), ...[copied, unchanged, kept, pending].map(String)]
}

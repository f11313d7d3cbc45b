import { isAppError } from '../../core/error.ts'
import type { Message } from '../../core/message.ts'
import type { Runs } from '../../service/services.ts'
import type { RunFile } from '../../wire/message.ts'

/** The store reads those that are asked for at once together. Their messages may be large, and only their files are kept. */
const readAtOnce = 20

/** The runs with the files of their messages, without those that have been deleted meanwhile. */
export async function withFiles<RUN extends { run_id: string }>(
  runs: Pick<Runs, 'get'>,
  items: readonly RUN[],
): Promise<(RUN & { files: RunFile[] })[]> {
  const read = async (run: RUN) => {
    try {
      return [{ ...run, files: filesOf((await runs.get(run.run_id)).messages) }]
    } catch (error) {
      if (isAppError(error) && error.code === 'run_not_found') return []
      throw error
    }
  }
  const found: (RUN & { files: RunFile[] })[] = []
  for (let at = 0; at < items.length; at += readAtOnce)
    found.push(...(await Promise.all(items.slice(at, at + readAtOnce).map(read))).flat())
  return found
}

function filesOf(messages: readonly Message[]): RunFile[] {
  return messages.flatMap(({ role, parts }) =>
    parts.flatMap((part) => (part.type === 'file' ? [{ ...part, role }] : [])),
  )
}

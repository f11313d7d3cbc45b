import type { SessionStore } from '../../../../core/store.ts'
import type { Database } from '../database.ts'
import { deleteFiles, hasNoRun, sweepContents } from './delete.ts'
import { saveFile } from './save.ts'

/** The writes of files. */
export function files({ work, owners, logger }: Database): Pick<SessionStore, 'saveFile' | 'dropFiles'> {
  return {
    saveFile: (file) => saveFile(work, file, owners.atWork),
    async dropFiles(runId) {
      await work((sql) => deleteFiles(sql, `run_id = $1 AND ${hasNoRun}`, [runId]))
      await deleteContents({ work, logger })
    },
  }
}

/** Call it after a transaction that may have deleted files. What it can't delete is deleted with what comes next. */
export async function deleteContents({ work, logger }: Pick<Database, 'work' | 'logger'>): Promise<void> {
  try {
    while (await work(sweepContents, 'bulk'));
  } catch (error) {
    logger.warn({ error }, 'contents of deleted files could not be deleted yet')
  }
}

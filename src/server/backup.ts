import { dirname, relative, sep } from 'node:path'
import type { ResolvedConfig } from '../config/types.ts'
import { AppError } from '../core/error.ts'
import type { Clock } from '../core/time.ts'
import { version } from '../core/version.ts'
import { createBackups } from '../store/backup/archive.ts'
import { isKnowledgeName, sessionsName } from '../store/backup/manifest.ts'
import { databaseOf, dumpCommand } from './database/database.ts'

/** Creates archives of the data that the configuration stores in files; throws `conflict` for a database. Does no I/O. */
export function composeBackup(
  { server: { sessionStorage }, dataFolder }: ResolvedConfig,
  documentsPath: string | undefined,
  clock: Clock,
): () => AsyncIterable<Uint8Array> {
  const database = databaseOf(sessionStorage)
  if (database !== undefined) {
    return () => {
      throw new AppError('conflict', `The sessions are in Postgres. Back them up with ${dumpCommand(database)}.`)
    }
  }
  const databases: { name: string; path: string }[] = []
  // Sessions first: then the copy of the documents is newer and has every document that they refer to.
  if (typeof sessionStorage === 'object' && 'path' in sessionStorage)
    databases.push({ name: sessionsName, path: sessionStorage.path })
  if (documentsPath !== undefined)
    databases.push({ name: knowledgeNameOf(documentsPath, dataFolder), path: documentsPath })
  return createBackups({ folder: backupFolder(databases[0]?.path, dataFolder), databases, version, clock })
}

/** The folder for temporary copies: on the disk of the sessions. */
function backupFolder(path: string | undefined, dataFolder: string): string {
  return path === undefined ? dataFolder : dirname(path)
}

function knowledgeNameOf(path: string, dataFolder: string): string {
  const name = relative(dataFolder, path).split(sep).join('/')
  return isKnowledgeName(name) ? name : 'knowledge/knowledge.db'
}

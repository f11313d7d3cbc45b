import { AppError } from '../../../core/error.ts'
import type { Works } from '../../../core/knowledge/document-store.ts'
import type { KnowledgeDatabase } from './database.ts'
import { livingOwners } from './owner.ts'

/** Whose row it is, or free since its owner is gone. Two who ask at the same time wait for each other. */
const takeWork = `INSERT INTO work (name, owner_key) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET owner_key = excluded.owner_key, progress = NULL
  WHERE work.owner_key = excluded.owner_key OR work.owner_key NOT IN ${livingOwners}`

/** Rows that are taken by compare-and-set: locks of a session would be lost behind a pooler. */
export function works(database: KnowledgeDatabase): Works {
  const named = (name: string) => `${database.space}\u0001${name}`
  return {
    take: (name) => database.owned(async (sql, owner) => (await sql.run(takeWork, [named(name), owner])) > 0),
    async tell(name, progress) {
      const told = await database.owned((sql, owner) =>
        sql.run('UPDATE work SET progress = $3 WHERE name = $1 AND owner_key = $2', [
          named(name),
          owner,
          JSON.stringify(progress),
        ]),
      )
      if (told === 0)
        throw new AppError('unavailable', 'Another server has taken over what this one was doing.', {
          retryAfterSeconds: 1,
        })
    },
    async told(name) {
      const [row] = await database.read.all<{ progress: string | null }>(
        `SELECT progress FROM work WHERE name = $1 AND owner_key IN ${livingOwners}`,
        [named(name)],
      )
      return row && (row.progress === null ? null : JSON.parse(row.progress))
    },
    release: (name) =>
      database.owned(async (sql, owner) => {
        await sql.run('DELETE FROM work WHERE name = $1 AND owner_key = $2', [named(name), owner])
      }),
  }
}

import type { CachedAnswer, SessionStore } from '../../../core/store.ts'
import type { Sql } from '../../postgres/connection.ts'
import type { Database } from './database.ts'
import { completeClaim, releaseClaim, takeClaim } from './writing/claims.ts'
import type { Writing } from './writing/writing.ts'

type Keys = Pick<SessionStore, 'claim' | 'completeClaim' | 'releaseClaim' | 'cacheAnswer'>

/** The writes of what is found by a key that expires. */
export function keys({ work, owners, now }: Database, certain: Writing['certain'], onKey: () => void): Keys {
  return {
    async claim(claim, answer) {
      const taken = await certain((again) => work((sql) => takeClaim(sql, claim, owners.atWork, now(), again, answer)))
      if (taken === undefined) onKey()
      return taken
    },
    completeClaim: (key, answer) => work((sql) => completeClaim(sql, key, owners.atWork, answer)),
    releaseClaim: (key) => work((sql) => releaseClaim(sql, key, owners.atWork)),
    cacheAnswer(answer) {
      onKey()
      return work((sql) => cacheAnswer(sql, answer))
    },
  }
}

/** A run that is deleted at this moment waits, and then takes the answer with it. */
async function cacheAnswer(sql: Sql, { key, run_id, expires_at }: CachedAnswer): Promise<void> {
  await sql.run(
    `INSERT INTO cached_answer (answer_key, run_id, expires_at) SELECT $1, run_id, $3 FROM run WHERE run_id = $2 FOR KEY SHARE
     ON CONFLICT (answer_key) DO UPDATE SET run_id = excluded.run_id, expires_at = excluded.expires_at`,
    [key, run_id, expires_at],
  )
}

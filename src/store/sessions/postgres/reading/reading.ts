import { invalidCursor } from '../../../../core/error.ts'
import type { SessionStore } from '../../../../core/store.ts'
import { isStorable } from '../../../postgres/text.ts'
import { decodeCursor, type Keyset } from '../../../rules/cursor.ts'
import type { Database } from '../database.ts'
import { findCached, readClaim } from './claims.ts'
import { eventReads } from './events.ts'
import { findFetched, findFile, listFiles, readFilePiece } from './files.ts'
import { findHandover, isBefore, listHandovers } from './handovers.ts'
import { historyReads } from './history.ts'
import { countSessions, listKeys } from './keys.ts'
import { mayFit } from './listed.ts'
import { overviewReads, readOverviews } from './overviews.ts'
import { headReads, readRecords, recordReads } from './records.ts'
import { listRuns } from './run-page.ts'
import { basisReads, sessionPage, sessionReads } from './sessions.ts'
import { findSummary, listSummaryJobs } from './summaries.ts'
import { findStateAfter, findStateBefore } from './turn-tree.ts'

type Reading = Pick<
  SessionStore,
  | 'findSession'
  | 'findHandover'
  | 'listHandovers'
  | 'isBefore'
  | 'listSessions'
  | 'listOverviews'
  | 'findOverview'
  | 'countSessions'
  | 'readRecords'
  | 'findRun'
  | 'listRuns'
  | 'readEvents'
  | 'readHistory'
  | 'findStateBefore'
  | 'findCached'
  | 'findSummary'
  | 'listSummaryJobs'
  | 'findClaim'
  | 'findFile'
  | 'readFilePiece'
  | 'findFetched'
  | 'listFiles'
> &
  Required<Pick<SessionStore, 'readBasis' | 'findRunHead' | 'findStateAfter'>>

/** All reads. Each returns at most `maxReadBytes`, or one row. */
export function reading(database: Database): Reading {
  const { read: sql, maxReadBytes, owners, now } = database
  const findRun = recordReads(sql, maxReadBytes)
  const findRunHead = headReads(sql)
  const findSession = sessionReads(sql, maxReadBytes)
  const readBasis = basisReads(sql)
  const findOverview = overviewReads(sql)
  const readHistory = historyReads(sql, maxReadBytes)
  const readEvents = eventReads(sql, maxReadBytes)

  return {
    findSession: async (id) => (mayBe(id) ? findSession(id) : undefined),
    readBasis: async (id) => (mayBe(id) ? readBasis(id) : undefined),
    findHandover: async (id, user, newest) => (mayBe(id, user) ? findHandover(sql, id, user, newest) : undefined),
    listHandovers: async (id) => (mayBe(id) ? listHandovers(sql, id) : {}),
    isBefore: async (id, other) => mayBe(id, other) && isBefore(sql, id, other),
    async listSessions(filter, page) {
      const after = keysetOf(page.cursor)
      return mayFit(filter) ? sessionPage(sql, filter, after, page, maxReadBytes) : { items: [], next: null }
    },
    async listOverviews(filter, page) {
      const after = keysetOf(page.cursor)
      if (!mayFit(filter)) return { items: [], next: null }
      const { keys, next } = await listKeys(sql, filter, after, page)
      const ids = keys.map(({ id }) => id)
      return { items: await readOverviews(sql, ids, filter.as_user === true ? filter.user_id : undefined), next }
    },
    async findOverview(id, user) {
      if (!mayBe(id, user)) return undefined
      return user === undefined ? findOverview(id) : (await readOverviews(sql, [id], user))[0]
    },
    countSessions: async (filter) => (mayFit(filter) ? countSessions(sql, filter) : 0),
    readRecords: async (id, after, limit) => (mayBe(id, after) ? readRecords(sql, id, after, limit, maxReadBytes) : []),
    findRun: async (id) => (mayBe(id) ? findRun(id) : undefined),
    findRunHead: async (id) => (mayBe(id) ? findRunHead(id) : undefined),
    listRuns: (filter, page) => listRuns(sql, filter, page),
    readEvents: async (id, after, limit, types) => (mayBe(id) ? readEvents(id, after, limit, types) : []),
    readHistory: async (id, limit, view) =>
      mayBe(id, view?.before, view?.upTo) ? readHistory(id, limit, view) : { runs: [], has_more: false },
    async findStateBefore(id) {
      const run = mayBe(id) ? await findRunHead(id) : undefined
      return run && findStateBefore(sql, run)
    },
    async findStateAfter(id) {
      const run = mayBe(id) ? await findRunHead(id) : undefined
      return run && findStateAfter(sql, run)
    },
    findCached: async (key) => (mayBe(key) ? findCached(sql, key, now()) : undefined),
    findSummary: async (id) => (mayBe(id) ? findSummary(sql, id) : undefined),
    listSummaryJobs: () => listSummaryJobs(sql, owners.own),
    findClaim: async (key) => (mayBe(key) ? readClaim(sql, key, now()) : undefined),
    findFile: async (id, file) => (mayBe(id, file) ? findFile(sql, id, file) : undefined),
    readFilePiece: async (id, file, piece) => (mayBe(id, file) ? readFilePiece(sql, id, file, piece) : undefined),
    findFetched: async (id, url) => (mayBe(id, url) ? findFetched(sql, id, url) : undefined),
    listFiles: async (id) => (mayBe(id) ? listFiles(sql, id) : []),
  }
}

/** Whether rows may have these texts. One that can't be stored would fail a statement, with all reads that share it. */
function mayBe(...texts: (string | undefined)[]): boolean {
  return texts.every((text) => text === undefined || isStorable(text))
}

function keysetOf(cursor: string | undefined): Keyset | undefined {
  const after = decodeCursor(cursor)
  if (after === undefined || mayBe(after.time, after.id)) return after
  throw invalidCursor()
}

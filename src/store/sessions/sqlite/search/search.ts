import { stat } from 'node:fs/promises'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { AppError } from '../../../../core/error.ts'
import { isSessionId } from '../../../../core/id.ts'
import type { Logger } from '../../../../core/logger.ts'
import type { Page, PageRequest } from '../../../../core/page.ts'
import type { MessageHit, MessageSearch } from '../../../../core/text/message-search.ts'
import { within } from '../../../../runtime/abort.ts'
import { createSerial } from '../../../../runtime/serial.ts'
import { Pace } from '../../../../runtime/yield.ts'
import {
  type SearchedRun,
  type SearchIndex,
  searchPage,
  sessionTerm,
  toPosition,
} from '../../../rules/message-search.ts'
import type { Connection } from '../../../sqlite/connection.ts'
import { takeStep } from '../../rows/budget.ts'
import type { MessageRow } from '../../rows/rows.ts'
import { isReplacedFor, readableBy } from '../reading/handovers.ts'
import { ownedBy } from '../reading/lists.ts'
import { isDamaged, removeSearchFile, SearchFile, toSearchError } from './search-file.ts'
import { dropAbsent, removeOrphans, renewRuns, type UpdateOptions, updateIndex } from './search-update.ts'

/** The update continues afterwards. */
const defaultUpdateMs = 10_000
const leftAfterMs = 1_000

interface Options {
  path: string
  openSource: () => Promise<Connection>
  logger: Logger
  /** How long a search waits for the index. Default: 10 s. */
  updateMs?: number
}

/**
 * Finds messages. A search brings the index up to date first, so that writes cost nothing more. Every match is looked
 * up in the database before it is returned.
 */
export class Search {
  readonly #options: Options
  #opened: Promise<{ file: SearchFile; source: Connection }> | undefined
  #updating: Promise<void> | undefined
  /** The part of the runs that the present update has read. */
  #share = 0
  /** Whether the index may hold what an earlier process had deleted. */
  #isSuspect = true
  readonly #queue = createSerial()
  #purging: Promise<void> = Promise.resolve()
  #left: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: Options) {
    this.#options = options
  }

  async find(search: MessageSearch, page: PageRequest): Promise<Page<MessageHit>> {
    const from = toPosition(page.cursor)
    // No session has such an id, and the index has no term with a space.
    if (search.session_id !== undefined && !isSessionId(search.session_id)) return { items: [], next: null }
    const answer = async () => {
      await this.#upToDate()
      return searchPage(await this.#index(search), search, page.limit, from)
    }
    try {
      return await answer().catch(async (error: unknown) => {
        if (!isDamaged(error)) throw error
        this.#options.logger.warn({ error }, 'the search index is damaged and is being rebuilt')
        await this.#rebuild()
        return answer()
      })
    } catch (error) {
      throw toSearchError(error)
    }
  }

  /** Removes deleted runs from the index, if there is one. */
  forget(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    this.#purge(async (file, source) => dropAbsent(file, source, numbers))
  }

  forgetWordsOf(numbers: readonly number[]): void {
    if (numbers.length > 0) this.#purge((file) => file.drop(numbers))
  }

  /** Indexes changed runs again, if there is an index. */
  renew(numbers: readonly number[]): void {
    if (numbers.length === 0) return
    this.#purge(async (file, source) => renewRuns(this.#updateOf(file, source), numbers))
  }

  /** Soon removes what an earlier process had deleted from the database but not from the index. */
  forgetLeft(): void {
    this.#left = setTimeout(() => {
      this.#purge(async (file, source) => {
        if (file.wasLeft && this.#isSuspect) await removeOrphans(this.#updateOf(file, source))
        this.#isSuspect = false
      })
    }, leftAfterMs).unref()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#left)
    await this.#purging
    await this.#queue.idle()
    await this.#shut()
  }

  /** Searches run between the steps of the purge. */
  #purge(first: (file: SearchFile, source: Connection) => Promise<void>): void {
    const purge = async () => {
      const dropped = await this.#queue.run(async () => {
        if (this.#opened === undefined && !(await exists(this.#options.path))) return false
        const { file, source } = await this.#open()
        await first(file, source)
        return true
      })
      for (let more = dropped; more && !this.#closed; ) {
        more = await this.#queue.run(async () => (await this.#open()).file.purge())
        await yieldToLoop()
      }
    }
    this.#purging = Promise.all([this.#purging, purge()]).then(
      () => {},
      (error: unknown) =>
        this.#options.logger.warn({ error }, 'words of deleted sessions are still in the search index'),
    )
  }

  #updateOf(file: SearchFile, source: Connection): UpdateOptions {
    return {
      file,
      source,
      pace: new Pace(),
      isStopped: () => this.#closed,
      onProgress: (share) => (this.#share = share),
    }
  }

  #open() {
    this.#opened ??= this.#openBoth()
    this.#opened.catch(() => (this.#opened = undefined))
    return this.#opened
  }

  async #openBoth() {
    const file = await SearchFile.open(this.#options.path)
    try {
      return { file, source: await this.#options.openSource() }
    } catch (error) {
      await file.close(false)
      throw error
    }
  }

  async #shut(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined)
    this.#opened = undefined
    await opened?.source.close()
    await opened?.file.close(!(opened.file.wasLeft && this.#isSuspect))
  }

  async #rebuild(): Promise<void> {
    await this.#queue.run(async () => {
      await this.#shut().catch(() => {})
      await removeSearchFile(this.#options.path)
    })
  }

  async #upToDate(): Promise<void> {
    this.#updating ??= this.#queue.run(() => this.#update()).finally(() => (this.#updating = undefined))
    const late = () => {
      const percent = Math.floor(this.#share * 100)
      const message = `The search index is being built: ${percent} % of the runs are read. Retry in a moment.`
      return new AppError('unavailable', message, { retryAfterSeconds: 2 })
    }
    const updating = this.#updating
    await within(() => updating, { ms: this.#options.updateMs ?? defaultUpdateMs, late })
  }

  async #update(): Promise<void> {
    this.#share = 0
    const { file, source } = await this.#open()
    const options = this.#updateOf(file, source)
    if (file.wasLeft && this.#isSuspect) await removeOrphans(options)
    this.#isSuspect = false
    await updateIndex(options)
  }

  async #index(search: MessageSearch): Promise<SearchIndex> {
    const { file, source } = await this.#open()
    const match = toMatch(search)
    return {
      find: (from, limit) => file.find(match, from, limit),
      read: (numbers) => readRuns(source, numbers, search),
    }
  }
}

/** Those of the runs that are in the requested sessions, in the same order, a few at a time. */
async function* readRuns(
  source: Connection,
  numbers: readonly number[],
  search: MessageSearch,
): AsyncGenerator<SearchedRun> {
  const { session_id, reader } = search
  let { conditions, params } = ownedBy(search)
  params = [JSON.stringify(numbers), ...params]
  if (reader !== undefined) {
    conditions += ` AND ${readableBy}`
    params.push(reader, reader)
    params.unshift(reader, reader)
  }
  if (session_id !== undefined) {
    conditions += ' AND session_id = ?'
    params.push(session_id)
  }
  const found = await source.all(
    `SELECT run_number, octet_length(input) + ifnull(octet_length(output), 0) AS bytes,
       ${reader === undefined ? 'replaced_by IS NOT NULL' : isReplacedFor} AS is_replaced
     FROM json_each(?) CROSS JOIN runs ON run_number = value CROSS JOIN sessions ON session_id = run_session_id
     WHERE parent_run_id IS NULL${conditions} ORDER BY run_number DESC`,
    params,
  )
  const replaced = new Set(found.filter((row) => row.is_replaced === 1).map((row) => row.run_number))
  while (found.length > 0) {
    const step = takeStep(found)
    const rows = await source.all(
      `SELECT run_number, run_id, run_session_id, entity_id, concat('[', input, ',', ifnull(output, '[]'), ']') AS said
       FROM json_each(?) CROSS JOIN runs ON run_number = value ORDER BY run_number DESC`,
      [JSON.stringify(step.map((row) => row.run_number))],
    )
    for (const row of rows) {
      yield {
        number: row.run_number as number,
        run_id: row.run_id as string,
        session_id: row.run_session_id as string,
        entity_id: row.entity_id as string,
        isReplaced: replaced.has(row.run_number),
        said: (JSON.parse(row.said as string) as MessageRow[][]).flat(),
      }
    }
  }
}

function toMatch({ words, session_id }: MessageSearch): string {
  const terms = words.map(({ word, isBeginning }) => `"${word}"${isBeginning ? '*' : ''}`)
  if (session_id !== undefined) terms.push(`"${sessionTerm(session_id)}"`)
  return terms.join(' AND ')
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

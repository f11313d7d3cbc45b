import { AppError } from '../../../core/error.ts'
import { SearchGivenUp } from '../../../core/knowledge/document-store.ts'
import { type Logger, silentLogger } from '../../../core/logger.ts'
import type { Timers } from '../../../core/time.ts'
import { closeAll } from '../../../runtime/close-all.ts'
import { systemTimers } from '../../../runtime/timers.ts'
import type { Connection, Plan, Sql } from '../../postgres/connection.ts'
import { toStoreError } from '../../postgres/failure.ts'
import { isCancelled, Pools } from '../../postgres/pools.ts'
import type { Limits, PostgresOptions } from '../../postgres/settings.ts'
import { SteadyConnection } from '../../postgres/steady-connection.ts'
import { openSchema } from '../../sessions/postgres/schema/open.ts'
import { steps } from '../../sessions/postgres/schema/steps.ts'
import { Owner } from './owner.ts'

export interface KnowledgeDatabaseOptions extends Omit<PostgresOptions, 'logger' | 'schema' | 'connections'> {
  /** Default: `agentserve`. */
  schema?: string | undefined
  connections?: PostgresOptions['connections'] | undefined
  /** Collections of different spaces don't know each other; default: ''. */
  space?: string | undefined
  /** Silence after which other servers take this one for dead; default 15 s. */
  deadAfterMs?: number | undefined
  /** How long a statement of a search for words may take; default 2 s. */
  searchMs?: number | undefined
  logger?: Logger | undefined
  timers?: Timers | undefined
}

/** What the drivers of documents and of vectors share: the connections of one process, and its name as the owner of what it writes. */
export interface KnowledgeDatabase {
  /** Makes the tables that are missing. Each call needs its own `close`. */
  open(): Promise<void>
  close(): Promise<void>
  /** Statements that change nothing; repeated after a lost connection. */
  readonly read: Sql
  /** The same for searches of words. What takes longer than two seconds is given up: `SearchGivenUp`. */
  readonly search: Sql
  /** The same for the nearest vectors. */
  readonly vectors: Sql
  work<T>(work: (sql: Sql) => Promise<T>, kind?: 'work' | 'bulk'): Promise<T>
  /** Throws when the database can't be written, or does not answer within seconds. */
  check(): Promise<void>
  /**
   * A transaction for what is under a generation that is not current. Throws `unavailable` when the others took this process for
   * dead: then they remove what it wrote.
   */
  owned<T>(work: (sql: Sql, owner: number) => Promise<T>, kind?: 'work' | 'bulk'): Promise<T>
  /** As `Pools.connectPast`; to be closed by the caller. */
  connect(purpose: string, limits: Limits): Promise<Connection>
  /** Called when reserved keys are lost, and when owners are gone. */
  listen(listener: { lost?: () => void; gone?: () => void }): void
  readonly schema: string
  readonly space: string
  readonly logger: Logger
}

const usualDeadAfterMs = 15_000
const usualSearchMs = 2_000
const beatLimits = { statementMs: 2_000, answerMs: 2_500 }
/** Besides those of the sessions, and with one for signs of life. */
const atMost = { read: 2, search: 2, vectors: 2, work: 1, bulk: 1 }

export function knowledgeDatabase(options: KnowledgeDatabaseOptions): KnowledgeDatabase {
  const { schema = 'agentserve', connections = 'direct', logger = silentLogger, space = '' } = options
  const { deadAfterMs = usualDeadAfterMs, searchMs = usualSearchMs, timers = systemTimers } = options
  const listeners: { lost?: () => void; gone?: () => void }[] = []
  let opened: { pools: Pools; owner: Owner; control: SteadyConnection } | undefined
  let opening: Promise<void> | undefined
  let users = 0

  const tell = (what: 'lost' | 'gone') => {
    for (const listener of listeners) listener[what]?.()
  }
  const now = () => {
    if (opened === undefined) throw new AppError('unavailable', 'The knowledge base is not open.')
    return opened
  }
  const telling = async <T>(use: () => Promise<T>): Promise<T> => {
    try {
      return await use()
    } catch (error) {
      throw toStoreError(error)
    }
  }
  const inTime = async <T>(use: () => Promise<T>): Promise<T> => {
    const begunMs = performance.now()
    try {
      return await use()
    } catch (error) {
      if (!isCancelled(error)) throw error
      // The database says in the language of its administrator which of both it was.
      const tookLong = performance.now() - begunMs >= searchMs
      const why = tookLong
        ? `Searching for words took the database longer than ${searchMs / 1_000} s.`
        : 'The database gave up the search for words: the statement was cancelled there.'
      throw new SearchGivenUp(why, error)
    }
  }
  const reading = (kind: 'read' | 'search' | 'vectors'): Sql => {
    const limited = kind === 'search' ? inTime : <T>(use: () => Promise<T>) => use()
    return {
      all: (text, params, plan?: Plan) => telling(() => limited(() => now().pools[kind].all(text, params, plan))),
      run: (text, params) => telling(() => limited(() => now().pools[kind].run(text, params))),
    }
  }
  const work: KnowledgeDatabase['work'] = (does, kind) => telling(() => now().pools.work(does, kind))

  const prepare = async () => {
    const pools = new Pools({ ...options, schema, connections, logger }, atMost, { search: searchMs })
    try {
      await telling(() => openSchema(pools, { steps, contracts: false }))
    } catch (error) {
      await pools.close().catch(() => undefined)
      throw error
    }
    // Works may wait for each other longer than others wait for a sign of life.
    const control = new SteadyConnection(() => pools, 'knowledge control', beatLimits)
    const owner = new Owner({
      deadAfterMs,
      timers,
      now: () => performance.now(),
      logger,
      work: (does) => pools.work(does),
      tell: (use) => control.use(use),
      onLost: () => tell('lost'),
      onGone: () => tell('gone'),
    })
    opened = { pools, owner, control }
  }

  return {
    schema,
    space,
    logger,
    read: reading('read'),
    search: reading('search'),
    vectors: reading('vectors'),
    work,
    check: async () => void (await telling(() => now().control.use((sql) => sql.all('SELECT pg_current_xact_id()')))),
    owned: (does, kind) => telling(() => now().owner.owned(does, (own) => now().pools.work(own, kind))),
    connect: (purpose, limits) => telling(() => now().pools.connectPast(purpose, limits)),
    listen: (listener) => void listeners.push(listener),
    async open() {
      users++
      opening ??= prepare()
      const awaited = opening
      try {
        await awaited
      } catch (error) {
        users--
        if (opening === awaited) opening = undefined
        throw error
      }
    },
    async close() {
      if (users === 0 || --users > 0) return
      const closing = opened
      opened = undefined
      opening = undefined
      if (closing)
        await closeAll(
          () => closing.owner.close(),
          () => closing.control.close(),
          () => closing.pools.close(),
        )
    },
  }
}

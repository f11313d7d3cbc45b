import { ServerError } from '../../client/transport/error.ts'
import { ConfigError } from '../../config/config-error.ts'
import { AppError, isAppError } from '../../core/error.ts'
import { describeError } from '../command/exit.ts'
import type { Connection } from '../connect/connect.ts'

export interface LinkOptions {
  connect(): Promise<Connection>
  /** Called with each new connection, before it is used. A failure closes it. */
  onConnected(connection: Connection): Promise<void>
  idleMs?: number
}

/** A use of the connection. `end` may be called again. */
export interface Use {
  connection: Connection
  end(): void
}

/**
 * The connection that calls share. It is opened by a call and closed when none needs it: the data folder is then free for
 * other commands and hosts, and the next call finds a server that was started meanwhile, and the config as it then is.
 */
export class Link {
  readonly #options: LinkOptions
  readonly #idleMs: number
  #opened: Promise<Connection> | undefined
  /** Connections that are being closed. */
  #closing: Promise<void> = Promise.resolve()
  #uses = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: LinkOptions) {
    this.#options = options
    this.#idleMs = options.idleMs ?? 1_000
  }

  /** Throws AppErrors only. */
  async use(): Promise<Use> {
    if (this.#isClosed) throw new AppError('unavailable', 'The connection is being closed.')
    clearTimeout(this.#timer)
    this.#uses++
    this.#opened ??= this.#open()
    const opened = this.#opened
    try {
      const connection = await opened
      let isOver = false
      const end = () => {
        if (!isOver) this.#end()
        isOver = true
      }
      return { connection, end }
    } catch (error) {
      if (this.#opened === opened) this.#opened = undefined
      this.#end()
      throw error instanceof ConfigError ? new AppError('unavailable', describeError(error), { cause: error }) : error
    }
  }

  async with<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { connection, end } = await this.use()
    try {
      return await work(connection)
    } catch (error) {
      throw this.failed(connection, error)
    } finally {
      end()
    }
  }

  /** A server that is gone is looked for again by the next call. Gives the error to throw. */
  failed(connection: Connection, error: unknown): unknown {
    const isLost =
      connection.own === undefined &&
      isAppError(error) &&
      !(error instanceof ServerError) &&
      error.code === 'unavailable'
    if (!isLost) return error
    this.#drop(connection)
    return new AppError('unavailable', `${error.message} The next call looks for a server again.`, { cause: error })
  }

  /** Ends what is under way in this process. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const opened = this.#opened
    this.#opened = undefined
    const connection = await opened?.catch(() => undefined)
    await connection?.close({ deadline: 0 })
    await this.#closing
  }

  async #open(): Promise<Connection> {
    await this.#closing
    const connection = await this.#options.connect()
    try {
      await this.#options.onConnected(connection)
    } catch (error) {
      await connection.close()
      throw error
    }
    return connection
  }

  #end(): void {
    this.#uses--
    this.#rest()
  }

  #rest(): void {
    if (this.#uses > 0 || this.#isClosed || this.#opened === undefined) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#closeIfIdle(), this.#idleMs)
  }

  async #closeIfIdle(): Promise<void> {
    const opened = this.#opened
    const connection = await opened?.catch(() => undefined)
    if (connection === undefined || this.#uses > 0 || this.#opened !== opened) return
    const server = connection.own?.server
    const works = server !== undefined && (server.underWay().run_ids.length > 0 || server.filesToCome() !== undefined)
    if (works) this.#rest()
    else this.#drop(connection)
  }

  #drop(connection: Connection): void {
    this.#opened = undefined
    const closed = connection.close().catch(() => {})
    this.#closing = Promise.all([this.#closing, closed]).then(() => {})
  }
}

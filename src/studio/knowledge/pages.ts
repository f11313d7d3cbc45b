import { signal } from '@preact/signals'
import { Latest } from '../state/reading/latest.ts'
import { messageOf } from '../state/server/message-of.ts'

const pageSize = 100

interface PageRequest {
  limit: number
  cursor: string | undefined
  signal: AbortSignal
}

/** The cursor is null on the last page. */
type Page<Row> = [rows: readonly Row[], next: string | null]

/** A list that is read page by page as it is scrolled to. */
export class Pages<Row> {
  readonly rows = signal<readonly Row[]>([])
  /** The cursor of the page after the rows. Undefined: nothing is read yet. Null: there is none. */
  readonly next = signal<string | null | undefined>(undefined)
  /** Why it could not be read, or `''`. */
  readonly error = signal('')
  readonly #get: (page: PageRequest) => Promise<Page<Row>>
  readonly #keyOf: (row: Row) => string
  readonly #reading = new Latest()

  constructor(get: (page: PageRequest) => Promise<Page<Row>>, keyOf: (row: Row) => string) {
    this.#get = get
    this.#keyOf = keyOf
  }

  /** From the first page: it is another list. */
  reset(): void {
    this.close()
    this.rows.value = []
    this.next.value = undefined
    this.error.value = ''
    this.#read()
  }

  more(): void {
    if (!this.#reading.isReading && this.next.value) this.#read(this.next.value)
  }

  /** The first page again. What was read of the rest stays where it follows that page. */
  refresh(): void {
    this.#reading.soon(() => this.#read())
  }

  remove(key: string): void {
    this.rows.value = this.rows.value.filter((row) => this.#keyOf(row) !== key)
  }

  close(): void {
    this.#reading.stop()
  }

  #read(cursor?: string): void {
    this.#reading.read(
      (signal) => this.#get({ limit: pageSize, cursor, signal }),
      ([page, next]) => {
        this.error.value = ''
        const before = this.rows.value
        const last = page.map(this.#keyOf).at(-1)
        const known = before.findIndex((row) => this.#keyOf(row) === last)
        const rest = known < 0 || next === null ? [] : before.slice(known + 1)
        this.rows.value = [...(cursor === undefined ? [] : before), ...page, ...rest]
        if (rest.length === 0) this.next.value = next
      },
      (error) => {
        this.error.value = messageOf(error)
      },
    )
  }
}

import { appendFile, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { terminalText } from '../../terminal/text.ts'

const maxEntries = 1000
const maxChars = 10_000
const maxFileBytes = 1024 * 1024

/** What was typed, newest last: of this chat, and with a file that of all chats of the project. Only the owner may read the file. */
export class InputHistory {
  readonly entries: string[] = []
  readonly #path: string | undefined
  #written: Promise<void> = Promise.resolve()

  constructor(path?: string) {
    this.#path = path
  }

  /** Never rejects: without its history a chat works too. */
  static async read(path: string): Promise<InputHistory> {
    const history = new InputHistory(path)
    const text = await readLast(path)
    for (const line of text.split('\n')) {
      const entry = parse(line)
      if (entry !== undefined) history.see(entry)
    }
    if (Buffer.byteLength(text) > maxFileBytes / 2) await history.#compact()
    return history
  }

  /** Takes an entry that others have kept. */
  see(text: string): void {
    if (text === '' || text === this.entries.at(-1)) return
    this.entries.push(text)
    if (this.entries.length > maxEntries) this.entries.shift()
  }

  /** Keeps an entry, in the file too. */
  add(text: string): void {
    if (text === '' || text === this.entries.at(-1)) return
    this.see(text)
    if (this.#path === undefined || text.length > maxChars) return
    const path = this.#path
    this.#written = this.#written
      .then(() => appendFile(path, `${JSON.stringify(text)}\n`, { mode: 0o600 }))
      // A full disk, or a folder that is read only or not there: the chat goes on.
      .catch(() => {})
  }

  /** Until what was added is in the file. */
  written(): Promise<void> {
    return this.#written
  }

  async #compact(): Promise<void> {
    if (this.#path === undefined) return
    const draft = `${this.#path}.${process.pid}`
    let kept = ''
    for (const entry of this.entries.toReversed()) {
      if (kept.length > maxFileBytes / 8) break
      kept = `${JSON.stringify(entry)}\n${kept}`
    }
    try {
      await writeFile(draft, kept, { mode: 0o600, flag: 'wx' })
      await rename(draft, this.#path)
    } catch {
      await rm(draft, { force: true })
    }
  }
}

/** The end of the file, in whole lines; nothing of what is no regular file. */
async function readLast(path: string): Promise<string> {
  try {
    const file = await open(path, 'r')
    try {
      const found = await file.stat()
      if (!found.isFile()) return ''
      if (found.size <= maxFileBytes) return await readFile(file, 'utf8')
      const bytes = Buffer.alloc(maxFileBytes)
      const { bytesRead } = await file.read(bytes, 0, maxFileBytes, found.size - maxFileBytes)
      const text = bytes.toString('utf8', 0, bytesRead)
      return text.slice(text.indexOf('\n') + 1)
    } finally {
      await file.close()
    }
  } catch {
    return ''
  }
}

function parse(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' && value.length <= maxChars ? terminalText(value) : undefined
  } catch {
    return undefined
  }
}

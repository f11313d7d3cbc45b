import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import { createSerial } from '../../runtime/serial.ts'
import { toToolName } from '../tools/source.ts'

export type ToolHashes = ReadonlyMap<string, string>

/**
 * Hashes of one server's tools at their first listing and at their last confirmation by a user. They are in two files
 * of the data folder: only the folder's owner writes the first, only a confirmation writes the second, so neither
 * overwrites the other. An unreadable file counts as changed.
 */
export class ToolRecord {
  readonly #server: string
  readonly #path: string | undefined
  #first: Map<string, string> | 'damaged' | undefined
  #confirmed: Map<string, string> | 'damaged' | undefined
  readonly #queue = createSerial()

  /** Without a folder it lasts as long as this object. `identity` distinguishes servers of the same name. */
  constructor(server: string, identity: string, folder: string | undefined) {
    this.#server = server
    const ending = createHash('sha256').update(identity).digest('hex').slice(0, 16)
    this.#path =
      folder === undefined ? undefined : join(folder, 'mcp-tools', `${toToolName(server).slice(0, 40)}-${ending}`)
  }

  /** The names of changed tools. New tools are recorded, unless `keep` is false. */
  async changed(tools: ToolHashes, logger: Logger, keep = true): Promise<ReadonlySet<string>> {
    const quick = this.#compare(tools)
    if (quick?.changed.size === 0 && quick.fresh.length === 0) return quick.changed
    return this.#queue.run(async () => {
      if (this.#first === undefined || this.#first === 'damaged') this.#first = await this.#read('first', logger)
      // Another process may have confirmed them meanwhile.
      this.#confirmed = await this.#read('confirmed', logger)
      const { changed, fresh } = this.#compare(tools) ?? { changed: new Set<string>(), fresh: [] }
      if (keep && fresh.length > 0 && this.#first !== 'damaged') {
        for (const [name, hash] of fresh) this.#first.set(name, hash)
        await this.#write('first', this.#first).catch((error: unknown) =>
          logger.warn({ error, mcp_server: this.#server }, "the record of an MCP server's tools could not be saved"),
        )
      }
      return changed
    })
  }

  /** Confirms the present descriptions of these tools. */
  async accept(tools: ToolHashes, logger: Logger): Promise<void> {
    await this.#queue.run(async () => {
      const first = await this.#read('first', logger)
      const confirmed = await this.#read('confirmed', logger)
      this.#confirmed = new Map([...(confirmed === 'damaged' ? [] : confirmed), ...tools])
      await this.#write('confirmed', this.#confirmed)
      if (first === 'damaged' && this.#path !== undefined) await rm(`${this.#path}.first.json`, { force: true })
      this.#first = undefined
    })
  }

  /** Undefined: the record has not been read yet. */
  #compare(tools: ToolHashes): { changed: Set<string>; fresh: [string, string][] } | undefined {
    const first = this.#first
    const confirmed = this.#confirmed
    if (first === undefined || confirmed === undefined) return undefined
    const changed = new Set<string>()
    const fresh: [string, string][] = []
    for (const [name, hash] of tools) {
      const known = confirmed === 'damaged' ? '' : (confirmed.get(name) ?? (first === 'damaged' ? '' : first.get(name)))
      if (known === undefined) fresh.push([name, hash])
      else if (known !== hash) changed.add(name)
    }
    return { changed, fresh }
  }

  async #read(which: 'first' | 'confirmed', logger: Logger): Promise<Map<string, string> | 'damaged'> {
    const path = this.#path && `${this.#path}.${which}.json`
    if (path === undefined) {
      const kept = which === 'first' ? this.#first : this.#confirmed
      return kept ?? new Map()
    }
    try {
      return parse(await readFile(path, 'utf8'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
      const known = which === 'first' ? this.#first : this.#confirmed
      if (known === 'damaged') return known
      logger.warn(
        { reason: messageOf(error), mcp_server: this.#server, path },
        "the record of an MCP server's tools could not be read: every call needs approval until they are confirmed",
      )
      return 'damaged'
    }
  }

  async #write(which: 'first' | 'confirmed', tools: ToolHashes): Promise<void> {
    if (this.#path === undefined) return
    await mkdir(join(this.#path, '..'), { recursive: true, mode: 0o700 })
    const path = `${this.#path}.${which}.json`
    const draft = `${path}.${randomUUID()}.tmp`
    try {
      const file = await open(draft, 'wx', 0o600)
      try {
        await file.writeFile(`${JSON.stringify({ server: this.#server, tools: [...tools] }, undefined, 2)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }
}

function parse(text: string): Map<string, string> {
  const { tools } = JSON.parse(text) as { tools?: unknown }
  if (!Array.isArray(tools)) throw new Error('it has no list of tools')
  const isPair = (pair: unknown) =>
    Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === 'string')
  if (!tools.every(isPair)) throw new Error('its list of tools has an entry that is not a tool')
  return new Map(tools as [string, string][])
}

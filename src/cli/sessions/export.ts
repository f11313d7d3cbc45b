import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import type { SessionsClient } from '../../client/sessions.ts'
import { AppError } from '../../core/error.ts'
import { UsageError } from '../exit.ts'
import { say, write } from '../output.ts'
import { terminalLine, terminalText } from '../terminal-text.ts'
import type { SessionsAction, SessionsOptions } from './action.ts'
import { toWriteError } from './file-error.ts'
import { toMarkdown } from './markdown.ts'
import { filterOf, readPages } from './pages.ts'

export const exportSessions: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  if (args.length === 0 && options.all !== true) throw new UsageError('Say which: sessions export <id>, or --all.')
  if (args.length > 0 && options.all === true) throw new UsageError('Name sessions or say --all, not both.')
  if (json && options.format === 'markdown') throw new UsageError('--json and --format markdown exclude each other.')
  return withClient(async ({ sessions }) => {
    const ids = args.length > 0 ? args : allSessions(sessions, options, signal)
    const texts = textsOf(sessions, ids, options, signal)
    if (options.output === undefined) {
      const safe = process.stdout.isTTY ? terminalText : (text: string) => text
      for await (const text of texts) await write(safe(text))
    } else {
      const count = await writeFile(options.output, texts, signal)
      say(`Wrote ${count} lines to ${terminalLine(options.output)}.`)
    }
    return undefined
  })
}

async function* allSessions(sessions: SessionsClient, options: SessionsOptions, signal: AbortSignal) {
  const read = (page: object) => sessions.list(filterOf(options), { ...page, signal })
  for await (const page of readPages(read, (listed) => listed.sessions, undefined)) {
    for (const { session_id } of page) yield session_id
  }
}

async function* textsOf(
  sessions: SessionsClient,
  ids: Iterable<string> | AsyncIterable<string>,
  { format, events }: SessionsOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const id of ids) {
    const asMarkdown = format === 'markdown'
    const lines = await sessions.export(id, { events: asMarkdown ? false : events, signal })
    let isWhole = false
    for await (const line of lines) {
      isWhole = line.startsWith('{"type":"end"')
      const text = asMarkdown ? toMarkdown(JSON.parse(line)) : `${line}\n`
      if (text !== '') yield text
    }
    if (!isWhole) throw new AppError('unavailable', `The export of '${id}' was cut short.`)
  }
}

/** The whole file or none, and never over one that is there. Gives how many lines it has. */
export async function writeFile(path: string, texts: AsyncIterable<string>, signal: AbortSignal): Promise<number> {
  const part = `${path}.${randomUUID().slice(0, 8)}.part`
  const file = createWriteStream(part, { flags: 'wx', mode: 0o600 })
  let lines = 0
  try {
    await once(file, 'open', { signal })
    for await (const text of texts) {
      lines += text.split('\n').length - 1
      if (!file.write(text)) await once(file, 'drain', { signal })
    }
    file.end()
    await once(file, 'finish', { signal })
    await link(part, path)
    return lines
  } catch (error) {
    throw toWriteError(error, path)
  } finally {
    file.destroy()
    await rm(part, { force: true })
  }
}

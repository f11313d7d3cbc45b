import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import type { SessionsClient } from '../../../client/sessions.ts'
import { AppError, isAppError } from '../../../core/error.ts'
import { UsageError } from '../../command/exit.ts'
import { exit } from '../../command/exit-codes.ts'
import { toWriteError } from '../../command/file-error.ts'
import { say, write } from '../../terminal/output.ts'
import { terminalLine, terminalText } from '../../terminal/text.ts'
import type { SessionsAction, SessionsOptions } from './action.ts'
import { toMarkdown } from './markdown.ts'
import { filterOf, readPages } from './pages.ts'

/** How much of a session is buffered until it is read completely. */
const heldCharacters = 64 * 1024 * 1024

export const exportSessions: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  if (args.length === 0 && options.all !== true)
    throw new UsageError('Name the sessions: sessions export <id>, or use --all.')
  if (args.length > 0 && options.all === true)
    throw new UsageError("Sessions and --all can't be combined. Use one of them.")
  if (json && options.format === 'markdown')
    throw new UsageError("--json and --format markdown can't be combined. Use one of them.")
  return withClient(async ({ sessions }) => {
    const ids = args.length > 0 ? args : allSessions(sessions, options, signal)
    let leftOut = 0
    const texts = textsOf(sessions, ids, options, signal, () => leftOut++)
    if (options.output === undefined) {
      const safe = process.stdout.isTTY ? terminalText : (text: string) => text
      for await (const text of texts) await write(safe(text))
    } else {
      const count = await writeFile(options.output, texts, signal)
      say(`Wrote ${count} lines to ${terminalLine(options.output)}.`)
    }
    return leftOut > 0 ? exit.failure : undefined
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
  options: SessionsOptions,
  signal: AbortSignal,
  onUnreadable: () => void,
): AsyncGenerator<string> {
  for await (const id of ids) {
    try {
      yield* textsOfOne(sessions, id, options, signal)
    } catch (error) {
      // An unreadable session must not stop the others: this saves the rest of a damaged database.
      if (options.all !== true || error instanceof HalfWritten || signal.aborted || !isUnreadable(error)) throw error
      onUnreadable()
      say(`'${terminalLine(id)}' can't be read and was skipped: ${error.message}`)
    }
  }
}

/** Part of this session is written already, so it can't be skipped. */
class HalfWritten extends AppError {}

function isUnreadable(error: unknown): error is AppError {
  return isAppError(error) && ['unavailable', 'internal'].includes(error.code)
}

/** Buffers a small session, so that an unreadable one writes nothing. */
async function* textsOfOne(
  sessions: SessionsClient,
  id: string,
  { format, events }: SessionsOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const asMarkdown = format === 'markdown'
  let held: string[] | undefined = []
  let characters = 0
  let isWhole = false
  try {
    for await (const line of await sessions.export(id, { events: asMarkdown ? false : events, signal })) {
      isWhole = line.startsWith('{"type":"end"')
      const text = asMarkdown ? toMarkdown(JSON.parse(line)) : `${line}\n`
      if (text === '') continue
      characters += text.length
      held?.push(text)
      if (held === undefined) yield text
      else if (characters > heldCharacters) {
        yield* held
        held = undefined
      }
    }
    if (!isWhole)
      throw new AppError('unavailable', `The export of '${id}' is incomplete: the connection ended early. Try again.`)
  } catch (error) {
    if (held === undefined && isAppError(error)) throw new HalfWritten(error.code, error.message, { cause: error })
    throw error
  }
  if (held !== undefined) yield* held
}

/** Writes the whole file or none, and never overwrites. Gives the number of lines. */
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

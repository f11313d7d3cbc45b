import { shownBytes } from '../../../core/limits.ts'
import type { FilePart } from '../../../core/message.ts'
import { replaceFile, writeNewFile } from '../../../runtime/whole-file.ts'
import { UsageError } from '../../command/exit.ts'
import { toWriteError } from '../../command/file-error.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { terminalLine } from '../../terminal/text.ts'
import { oneSession, type SessionsAction } from './action.ts'

/** The server's maximum. */
const maxInteractions = 1_000

type KeptFile = FilePart & { file_id: string; run_id: string }

/** The files of a session's latest runs, oldest first. */
export const listFiles: SessionsAction = async ({ withClient, args, json, signal }) => {
  const sessionId = oneSession('files', args)
  await withClient(async ({ sessions }) => {
    const { messages, has_more } = await sessions.history(sessionId, { interactions: maxInteractions, signal })
    const files = messages.flatMap(({ run_id, parts }) =>
      parts.flatMap((part): KeptFile[] =>
        part.type === 'file' && part.file_id !== undefined ? [{ ...part, file_id: part.file_id, run_id }] : [],
      ),
    )
    if (json) for (const file of files) printJson(file)
    else if (files.length === 0) say('This session has no files.')
    else print(formatTable(['FILE', 'NAME', 'TYPE', 'SIZE', 'RUN'], files.map(toRow)))
    if (has_more) say(`These are the files of the latest ${maxInteractions} runs.`)
  })
  return undefined
}

function toRow({ file_id, name, media_type, size, run_id }: KeptFile): string[] {
  return [file_id, name ?? '-', media_type, size === undefined ? '-' : shownBytes(size), run_id].map(terminalLine)
}

/** Writes a file of a session to `--output`, or under its own name into the working folder. */
export const saveFile: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  const [sessionId, fileId, more] = args
  if (sessionId === undefined || fileId === undefined || more !== undefined)
    throw new UsageError('sessions file needs the id of a session and the id of one file. `sessions files` lists them.')
  const { output, overwrite = false } = options
  if (output === '-' && process.stdout.isTTY)
    throw new UsageError('--output - needs a pipe or a file as stdout: a file can harm the terminal.')
  await withClient(async ({ sessions }) => {
    const { bytes, name, media_type } = await sessions.file(sessionId, fileId, { signal })
    if (output === '-') {
      await new Promise<void>((resolve, reject) => {
        process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
      })
      return
    }
    const file = output ?? safeName(name, fileId)
    try {
      await (overwrite ? replaceFile : writeNewFile)(file, bytes)
    } catch (error) {
      throw toWriteError(error, terminalLine(file), 'overwrite this one with `--overwrite`')
    }
    if (json) printJson({ file_id: fileId, file, media_type, size: bytes.byteLength })
    else say(`Wrote ${shownBytes(bytes.byteLength)} to ${terminalLine(file)}.`)
  })
  return undefined
}

/** A visible file in the working folder, whatever the sender named it. */
function safeName(name = '', fileId: string): string {
  const last = terminalLine(name).split(/[\\/]/).at(-1) ?? ''
  const safe = last
    .replace(/[<>:"|?*\p{Cc}\p{Cf}]/gu, '_')
    .replace(/^[.\s-]+|[.\s]+$/g, '')
    .replace(/^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i, '_$1')
  return safe === '' ? fileId.replace(/[^\w-]/g, '_') : safe.slice(0, 200)
}

import { type FileHandle, open } from 'node:fs/promises'
import { AppError, isAppError } from '../../../core/error.ts'
import { UsageError } from '../../command/exit.ts'
import { toReadError } from '../../command/file-error.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { terminalLine } from '../../terminal/text.ts'
import type { SessionsAction } from './action.ts'

/** The server's limit for one session. */
const maxBytes = 64 * 1024 * 1024
const lineEnd = 0x0a

/** Sends session by session, so a file may have any length. Sessions before a bad one stay imported. */
export const importSessions: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  const [file, more] = args
  if (file === undefined || more !== undefined)
    throw new UsageError('Name one file, or - for stdin: sessions import <file>')
  const opened = file === '-' ? undefined : await openFile(file)
  return withClient(async ({ sessions }) => {
    const input: AsyncIterable<Buffer> = opened?.createReadStream() ?? process.stdin
    let count = 0
    try {
      for await (const { bytes, firstLine } of readSessions(input, signal)) {
        const session = await sessions
          .import(bytes, { newIds: options.newIds, signal })
          .catch((error: unknown) => Promise.reject(inFile(error, firstLine)))
        count++
        if (json) printJson(session)
        else print(terminalLine(session.session_id))
      }
    } catch (error) {
      if (count > 0) say(`Sessions imported before the error: ${count}.`)
      throw toReadError(error, file)
    }
    if (count === 0) throw new AppError('invalid_request', `There is no session in ${file === '-' ? 'stdin' : file}.`)
    if (!json) say(count === 1 ? 'Imported 1 session.' : `Imported ${count} sessions.`)
    return undefined
  })
}

interface SessionText {
  bytes: Uint8Array
  firstLine: number
}

async function* readSessions(input: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<SessionText> {
  let lines: Buffer[] = []
  let bytes = 0
  let number = 0
  let firstLine = 1
  for await (const line of linesOf(input)) {
    signal.throwIfAborted()
    number++
    if (lines.length > 0 && isHead(line)) {
      yield { bytes: Buffer.concat(lines), firstLine }
      lines = []
      bytes = 0
    }
    if (lines.length === 0) {
      if (line.toString('latin1').trim() === '') continue
      firstLine = number
    }
    lines.push(line)
    bytes += line.byteLength
    if (bytes > maxBytes) throw tooLarge(firstLine)
  }
  if (lines.length > 0) yield { bytes: Buffer.concat(lines), firstLine }
}

/** Lines with their line ends. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(lineEnd, at)
      const piece = chunk.subarray(at, end === -1 ? chunk.length : end + 1)
      at += piece.length
      pieces.push(piece)
      bytes += piece.length
      if (bytes > maxBytes) throw new AppError('invalid_request', `A line has more than ${maxBytes} bytes.`)
      if (end === -1) break
      yield Buffer.concat(pieces)
      pieces = []
      bytes = 0
    }
  }
  if (pieces.length > 0) yield Buffer.concat(pieces)
}

const headStart = /^\s*\{\s*"type"\s*:\s*"session"/

function isHead(line: Buffer): boolean {
  return headStart.test(line.subarray(0, 200).toString('latin1'))
}

function tooLarge(line: number): AppError {
  return new AppError('payload_too_large', `The session that begins in line ${line} has more than ${maxBytes} bytes.`)
}

/** Shifts line numbers: the server counts from the start of the session that it got. */
function inFile(error: unknown, firstLine: number): unknown {
  if (!isAppError(error) || error.code !== 'invalid_request') return error
  const match = /^Line (\d+): ([\s\S]*)$/.exec(error.message)
  if (match === null) return error
  return new AppError('invalid_request', `Line ${firstLine + Number(match[1]) - 1}: ${match[2]}`, { cause: error })
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file)
  } catch (error) {
    throw toReadError(error, file)
  }
}

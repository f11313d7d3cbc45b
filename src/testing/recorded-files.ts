import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../core/error.ts'
import type { StreamPart } from '../runnables/again/answer-stream.ts'

/*
 * Files that a model made are kept beside its recording, one file per content, so that the recording stays readable. Its name
 * is a hash of the content.
 */

type FileStreamPart = Extract<StreamPart, { type: 'file' | 'reasoning-file' }>
export type RecordedPart = Exclude<StreamPart, FileStreamPart> | (Omit<FileStreamPart, 'data'> & { content: string })

/** The folder of a recording's files. */
function folderOf(path: string): string {
  return `${path.replace(/\.json$/, '')}.files`
}

export async function writeFiles(path: string, parts: readonly StreamPart[]): Promise<RecordedPart[]> {
  const recorded: RecordedPart[] = []
  for (const part of parts) {
    if (!isFile(part) || part.data.type !== 'data') {
      recorded.push(part as RecordedPart)
      continue
    }
    const { data, ...about } = part
    const bytes = typeof data.data === 'string' ? Buffer.from(data.data, 'base64') : data.data
    const content = createHash('sha256').update(bytes).digest('hex').slice(0, 32)
    await mkdir(folderOf(path), { recursive: true })
    await writeFile(join(folderOf(path), content), bytes)
    recorded.push({ ...about, content })
  }
  return recorded
}

/** Throws `run_failed` when a file is missing. */
export async function readFiles(path: string, recorded: readonly RecordedPart[]): Promise<StreamPart[]> {
  const parts: StreamPart[] = []
  for (const part of recorded) {
    if (!('content' in part) || typeof part.content !== 'string' || !/^[0-9a-f]{32}$/.test(part.content)) {
      parts.push(part as StreamPart)
      continue
    }
    const { content, ...about } = part
    const file = join(folderOf(path), content)
    const data = await readFile(file).catch((cause: unknown) => {
      throw new AppError('run_failed', `The file ${file} of the recording is missing. Record it again.`, { cause })
    })
    parts.push({ ...about, data: { type: 'data', data: new Uint8Array(data) } } as FileStreamPart)
  }
  return parts
}

function isFile(part: StreamPart): part is FileStreamPart {
  return part.type === 'file' || part.type === 'reasoning-file'
}

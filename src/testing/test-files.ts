import { glob, mkdir } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { AppError } from '../core/error.ts'
import { fullDisk, isDiskFull, replaceFile, writeNewFile } from '../runtime/whole-file.ts'
import type { SavedTest } from './saved-test.ts'

export const testFileEnd = '.session.json'

/** The saved tests under a folder, as paths relative to it with slashes. */
export async function findTestFiles(root: string): Promise<string[]> {
  const files: string[] = []
  const exclude = (name: string) => name === 'node_modules' || (name.startsWith('.') && name !== '.')
  for await (const file of glob(`**/*${testFileEnd}`, { cwd: root, exclude })) files.push(file.split(sep).join('/'))
  return files.sort()
}

/** Writes a new file, or none. Throws `conflict` if the file exists (`advice` says what to do then), or `storage_full`. */
export async function writeTestFile(root: string, file: string, test: SavedTest, advice: string): Promise<void> {
  const path = resolve(root, file)
  await mkdir(dirname(path), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw notWritten(file, error)
    throw new AppError('conflict', `${file} needs a folder where a file is already. ${advice}`)
  })
  try {
    await writeNewFile(path, toFileText(test))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new AppError('conflict', `${file} already exists. ${advice}`)
    throw notWritten(file, error)
  }
}

/** Writes the new answers of a test into its file. Throws `storage_full`, and leaves the file as it was. */
export async function updateTestFile(root: string, file: string, test: SavedTest): Promise<void> {
  try {
    await replaceFile(resolve(root, file), toFileText(test))
  } catch (error) {
    throw notWritten(file, error)
  }
}

function notWritten(file: string, error: unknown): unknown {
  return isDiskFull(error) ? fullDisk(file, error) : error
}

function toFileText(test: SavedTest): string {
  return `${JSON.stringify(test, undefined, 2)}\n`
}

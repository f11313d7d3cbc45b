import { glob, mkdir, open, rm } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { AppError } from '../core/error.ts'
import type { SavedTest } from './saved-test.ts'

export const testFileEnd = '.session.json'

/** The saved tests under a folder, as paths relative to it with slashes. */
export async function findTestFiles(root: string): Promise<string[]> {
  const files: string[] = []
  const exclude = (name: string) => name === 'node_modules' || (name.startsWith('.') && name !== '.')
  for await (const file of glob(`**/*${testFileEnd}`, { cwd: root, exclude })) files.push(file.split(sep).join('/'))
  return files.sort()
}

/** Writes a new file, or none. Throws `conflict` if the file exists; `advice` says what to do then. */
export async function writeTestFile(root: string, file: string, test: SavedTest, advice: string): Promise<void> {
  const path = resolve(root, file)
  await mkdir(dirname(path), { recursive: true })
  const handle = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new AppError('conflict', `${file} already exists. ${advice}`) : error
  })
  try {
    await handle.writeFile(toFileText(test))
  } catch (error) {
    // The disk may be full.
    await rm(path, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

export function toFileText(test: SavedTest): string {
  return `${JSON.stringify(test, undefined, 2)}\n`
}

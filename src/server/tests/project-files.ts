import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, toAppError } from '../../core/error.ts'
import { shownBytes } from '../../core/limits.ts'
import type { SavedTest } from '../../testing/saved-test.ts'
import type { ProjectTest } from '../../wire/saved-test.ts'

export const maxFileBytes = 32 * 1024 * 1024

/** The tests under a folder: their paths without `.session.json`, in order. */
export async function listNames(root: string): Promise<string[]> {
  const { findTestFiles, testFileEnd } = await import('../../testing/test-files.ts')
  return (await findTestFiles(root)).map((file) => file.slice(0, -testFileEnd.length))
}

/** What a list shows of a test; a file that can't be played has a `problem`. */
export async function describeTest(root: string, name: string): Promise<ProjectTest> {
  try {
    const { entity, turns } = await readTest(root, name)
    return { name, entity, turns: turns.length, problem: null }
  } catch (error) {
    return { name, entity: null, turns: null, problem: toAppError(error).message }
  }
}

/** Throws `invalid_request` for a file that is no test, or too large. */
export async function readTest(root: string, name: string): Promise<SavedTest> {
  const [{ parseSavedTest }, { testFileEnd }] = await Promise.all([
    import('../../testing/saved-test.ts'),
    import('../../testing/test-files.ts'),
  ])
  const file = `${name}${testFileEnd}`
  const text = await readBounded(join(root, file)).catch((cause: unknown) => {
    if (cause instanceof AppError) throw cause
    throw new AppError('invalid_request', `${file} can't be read.`, { cause })
  })
  return parseSavedTest(text, file)
}

async function readBounded(path: string): Promise<string> {
  const { size } = await stat(path)
  if (size > maxFileBytes) {
    throw new AppError('invalid_request', `The file has ${shownBytes(size)}, more than ${shownBytes(maxFileBytes)}.`)
  }
  return readFile(path, 'utf8')
}

import { readFile } from 'node:fs/promises'
import { disposeWithin } from '../../config/unsettled.ts'
import { playTest } from '../../testing/play-test.ts'
import { parseSavedTest, type SavedTest } from '../../testing/saved-test.ts'
import { updateTestFile } from '../../testing/test-files.ts'
import { UsageError } from '../command/exit.ts'
import { toWriteError } from '../command/file-error.ts'
import { loadUserConfig } from '../connect/user-config.ts'
import { terminalLine } from '../terminal/text.ts'
import type { KeptScores } from './kept-scores.ts'
import type { PlayedFile } from './report.ts'

export interface PlayFilesOptions {
  config?: string
  liveTools?: boolean
  recorded?: boolean
  times?: number
  update?: boolean
  /** Answers are scored, and compared with these; undefined: they must be those of then. */
  kept: KeptScores | undefined
  signal: AbortSignal
}

/** Plays the files one after the other, with one loaded config. */
export async function* playFiles(files: readonly string[], options: PlayFilesOptions): AsyncGenerator<PlayedFile> {
  const { kept, signal, times, update, liveTools, recorded } = options
  const { user, root, file: configFile } = await loadUserConfig(options.config, signal)
  const { dispose, ...config } = user
  const mode = kept === undefined ? 'replay' : 'scores'
  const models = kept === undefined || recorded ? 'recorded' : 'live'
  try {
    for (const file of files) {
      signal.throwIfAborted()
      const saved = parseSavedTest(await readText(file), file)
      const tools = liveTools ? 'live' : undefined
      const outcome = await playTest(config, saved, { mode, models, tools, root, signal, ...(times && { times }) })
      const accepted = update === true && !outcome.passed ? outcome.updated : undefined
      if (accepted !== undefined) await rewrite(file, accepted)
      yield { file, turns: saved.turns.length, updated: accepted !== undefined, outcome, before: kept?.resultOf(file) }
    }
  } finally {
    await disposeWithin(dispose, configFile)
  }
}

async function rewrite(file: string, test: SavedTest): Promise<void> {
  try {
    await updateTestFile(process.cwd(), file, test)
  } catch (error) {
    throw toWriteError(error, terminalLine(file))
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    throw new UsageError(`There is no file '${file}'.`)
  }
}

import { AppError, isAppError } from '../../core/error.ts'
import { pause } from '../../runtime/abort.ts'

const patienceMs = 5_000
const pauseMs = 100

export interface FolderOptions<T> {
  dataFolder: string
  /** Throws `conflict` while another process owns the folder. */
  open: () => Promise<T>
  /** The owner, if it is a server that answers. */
  instead: () => Promise<T | undefined>
  signal: AbortSignal
}

/** Opens the data folder; while it is in use, looks for its owner, for five seconds. */
export async function waitForFolder<T>({ dataFolder, open, instead, signal }: FolderOptions<T>): Promise<T> {
  const end = performance.now() + patienceMs
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!isAppError(error) || error.code !== 'conflict' || isTakenPort(error)) throw error
      const other = await instead()
      if (other !== undefined) return other
      if (performance.now() >= end) {
        throw new AppError(
          'conflict',
          `Another agentserve is using ${dataFolder}. Wait until it is done, or name another folder with --data.`,
        )
      }
    }
    await pause(pauseMs, signal)
  }
}

/** A port in use has the same code, but waiting would not help. */
function isTakenPort({ cause }: AppError): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
}

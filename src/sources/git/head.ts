import { git } from './git.ts'

export interface Head {
  commit: string
  /** Whether tracked files differ from it. */
  changed: boolean
}

const timeoutMs = 5_000

/** The commit that a folder is at; undefined where there is no repository, no commit or no git. */
export async function headOf(folder: string, signal: AbortSignal): Promise<Head | undefined> {
  const ask = async (...args: string[]) => (await git(args, { folder, signal, timeoutMs })).toString('utf8').trim()
  try {
    const commit = await ask('rev-parse', '--verify', 'HEAD')
    return { commit, changed: (await ask('status', '--porcelain', '--untracked-files=no')) !== '' }
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

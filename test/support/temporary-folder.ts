import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Removed with all that is in it when it is left. */
export async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'agentserve-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

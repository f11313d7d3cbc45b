import { commandKeyFor } from '../../core/access/server-proof.ts'
import { terminalLine } from '../terminal/text.ts'
import { findRunningServer, transportTo } from './running-server.ts'
import { clientOf, targetAt } from './target.ts'

/** Tab must feel instant. A server answers in a few milliseconds; on a busy machine it is not waited for longer. */
const patienceMs = 300

/** Ids for Tab: of the data folder, and the agents of its running server too. One line each. */
export async function idsFor(
  kind: 'agents' | 'sessions' | 'runs' | 'documents',
  dataFolder: string,
): Promise<{ ids: string[]; waits: boolean }> {
  const { knownIds } = await import('../../server/database/known-ids.ts')
  const known = knownIds(dataFolder, kind)
  const late = Symbol('late')
  const served = kind === 'agents' ? await Promise.race([servedAgents(dataFolder), pause(late)]) : []
  const ids = new Set([...(served === late ? [] : (served as string[])), ...known])
  // Others could not be typed, and could harm a terminal.
  return { ids: [...ids].filter((id) => id !== '' && terminalLine(id) === id), waits: served === late }
}

function pause<T>(value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve, patienceMs, value).unref())
}

async function servedAgents(dataFolder: string): Promise<string[]> {
  const running = await findRunningServer(dataFolder)
  if (running === undefined) return []
  const key = running.socket === undefined ? process.env.AGENTSERVE_KEY || undefined : commandKeyFor(running.secret)
  const target = targetAt(running, key, transportTo(running))
  try {
    return (await clientOf(target).agents.list()).agents.map(({ id }) => id)
  } catch {
    // Without a key that it takes, it says nothing.
    return []
  } finally {
    await target.close()
  }
}

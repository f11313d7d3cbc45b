import { expect, vi } from 'vitest'
import type { Project } from './program.ts'
import type { Pty } from './pty.ts'

async function ownerOf(project: Project): Promise<number | undefined> {
  try {
    return (JSON.parse(await project.read('.agentserve/server.json')) as { pid: number }).pid
  } catch {
    // Nobody serves, or the file is just being written.
    return undefined
  }
}

/** Kills the terminal that serves the folder; resolves with the milliseconds until another process serves it. */
export async function killOwner(project: Project, owner: Pty): Promise<number> {
  const killed = await ownerOf(project)
  if (killed === undefined) throw new Error('nobody serves the folder')
  owner.kill('SIGKILL')
  await owner.exited
  const since = performance.now()
  return await vi.waitFor(
    async () => {
      expect([undefined, killed]).not.toContain(await ownerOf(project))
      return performance.now() - since
    },
    { timeout: 20_000, interval: 5 },
  )
}

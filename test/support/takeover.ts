import { setTimeout as sleep } from 'node:timers/promises'
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
  for (;;) {
    const now = await ownerOf(project)
    const ms = performance.now() - since
    if (now !== undefined && now !== killed) return ms
    if (ms > 20_000) throw new Error('no other process serves the folder')
    await sleep(5)
  }
}

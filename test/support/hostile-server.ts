import { residentBytes, sendHostile } from './hostile-load.ts'
import { createProject, serve } from './program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ effects: 'none', async *run({ text }) { yield text } }),
    docs: agent({ knowledge: true }),
  },
})
`
export interface HostileOutcome {
  requests: number
  wrong: string[]
  grownMb: number
  /** Of the readiness check afterwards. */
  readiness: number
  exitCode: number | null
  /** Lines of the log that tell of a failure. */
  failures: string[]
}

/**
 * Starts the program, puts `count` hostile requests on it, all determined by `seed`, and stops it. What it has grown by
 * after the first `warmUp` of them is not counted.
 */
export async function outliveHostile(count: number, seed: number, warmUp = 1_500): Promise<HostileOutcome> {
  const project = await createProject({ 'agent.config.ts': config })
  try {
    const server = await serve(project, 'start')
    // What is loaded on first use (LanceDB, document readers), and a heap of the size that this takes, are no growth.
    const content = JSON.stringify({ content: 'A text about nothing much.' })
    const headers = { 'Content-Type': 'application/json' }
    await fetch(`${server.url}/api/v1/knowledge/content`, { method: 'POST', headers, body: content })
    const warm = await sendHostile(server.url, warmUp, seed)
    const pid = server.child.pid ?? 0
    const before = await residentBytes(pid)
    const { wrong, requests } = await sendHostile(server.url, count - warmUp, seed + 1_000_000)
    const grownMb = ((await residentBytes(pid)) - before) / 2 ** 20
    const { status } = await fetch(`${server.url}/health/ready`)
    const { code, stderr } = await server.stop()
    return {
      requests: warm.requests + requests,
      wrong: [...warm.wrong, ...wrong],
      grownMb,
      readiness: status,
      exitCode: code,
      failures: stderr.split('\n').filter((line) => /fail|uncaught/i.test(line)),
    }
  } finally {
    await project.remove()
  }
}

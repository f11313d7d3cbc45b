import { createProject, type RunningServer, serve } from '../program.ts'
import type { Keys } from './callers.ts'
import { residentBytes, sendHostile } from './load.ts'

/** What the server asks of those who call it. */
export type Guard = 'nothing' | 'keys' | 'keys behind a proxy'

const keys: Keys = { operator: 'operator-0123456789abcdef', user: 'ann-0123456789abcdef' }
const auth = `auth: { keys: ['${keys.operator}', { key: '${keys.user}', userId: 'ann' }] }`
const guards: Record<Guard, string> = {
  nothing: '',
  keys: `${auth},`,
  'keys behind a proxy': `${auth}, trustProxy: ['127.0.0.1'],`,
}
const configOf = (guard: Guard, storage: string) => `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  server: { ${guards[guard]} ${storage} },
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    docs: agent({ knowledge: true }),
  },
})
`
export interface HostileOutcome {
  requests: number
  statuses: Map<number, number>
  codes: Map<string, number>
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
 * after the first `warmUp` of them is not counted. `database`: its sessions are in this schema of a Postgres.
 */
export async function outliveHostile(
  count: number,
  seed: number,
  warmUp = 1_500,
  guard: Guard = 'nothing',
  database?: { url: string; schema: string },
): Promise<HostileOutcome> {
  const storage = database === undefined ? '' : `storage: { type: 'postgres', schema: '${database.schema}' }`
  const project = await createProject({ 'agent.config.ts': configOf(guard, storage) })
  const given = guard === 'nothing' ? undefined : keys
  let server: RunningServer | undefined
  try {
    server = await serve(project, 'start', [], database && { AGENTSERVE_DATABASE_URL: database.url })
    // What is loaded on first use (LanceDB, document readers), and a heap of the size that this takes, are no growth.
    const content = JSON.stringify({ content: 'A text about nothing much.' })
    const headers = { 'Content-Type': 'application/json', 'X-API-Key': keys.operator }
    await fetch(`${server.url}/api/v1/knowledge/content`, { method: 'POST', headers, body: content })
    const warm = await sendHostile(server.url, warmUp, seed, given)
    const pid = server.child.pid ?? 0
    const before = await residentBytes(pid)
    const { wrong, requests, ...counts } = await sendHostile(server.url, count - warmUp, seed + 1_000_000, given)
    const grownMb = ((await residentBytes(pid)) - before) / 2 ** 20
    const { status } = await fetch(`${server.url}/health/ready`)
    const { code, stderr } = await server.stop()
    return {
      requests: warm.requests + requests,
      statuses: sum(warm.statuses, counts.statuses),
      codes: sum(warm.codes, counts.codes),
      wrong: [...warm.wrong, ...wrong],
      grownMb,
      readiness: status,
      exitCode: code,
      failures: stderr.split('\n').filter((line) => /"level":[56]0|fail|uncaught|unhandled/i.test(line)),
    }
  } finally {
    // Nothing, after it has been stopped.
    await server?.kill()
    await project.remove()
  }
}

function sum<T>(one: Map<T, number>, other: Map<T, number>): Map<T, number> {
  return new Map([...one.keys(), ...other.keys()].map((key) => [key, (one.get(key) ?? 0) + (other.get(key) ?? 0)]))
}

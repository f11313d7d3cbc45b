import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { asStarted } from '../../../bench/start-up.ts'
import { residentBytes } from '../../support/hostile/load.ts'
import { createProject, serve } from '../../support/program.ts'

/* How much of the system's memory the program keeps, and that the settings for it change nothing else. */

const hasGlibc =
  process.platform === 'linux' && existsSync('/lib') && !readdirSync('/lib').some((name) => name.startsWith('ld-musl-'))
const config = `
import { agent } from 'agentserve'
export default {
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    env: agent({ async *run() { yield Object.keys(process.env).filter((name) => /MALLOC|MEMORY/.test(name)).join() } }),
    flags: agent({ async *run() { yield JSON.stringify(process.execArgv) } }),
  },
}`

async function started(name: 'dev' | 'start', env: Record<string, string> = {}) {
  const project = await createProject({ 'agent.config.ts': config })
  onTestFinished(() => project.remove())
  const server = await serve(project, name, [], env)
  onTestFinished(async () => {
    server.child.kill('SIGKILL')
    await server.finished
  })
  const pid = server.child.pid ?? 0
  const environ = await readFile(`/proc/${pid}/environ`, 'utf8')
  const commandLine = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0')
  const run = async (agent: string, input: string) => {
    const answer = await fetch(`${server.url}/api/v1/agents/${agent}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input }),
    })
    const text = await answer.text()
    return { status: answer.status, text }
  }
  return { server, pid, environ, commandLine, run }
}

test.runIf(hasGlibc)('large requests are not kept in memory once they are over', { timeout: 240_000 }, async () => {
  const { pid, run } = await started('start')
  const input = 'x'.repeat(10 * 1024 * 1024 - 100)
  for (let sent = 0; sent < 6; sent++) expect((await run('echo', input)).status).toBe(200)
  await expect.poll(() => residentBytes(pid), { timeout: 20_000, interval: 500 }).toBeLessThan(450 * 1024 * 1024)
})

test.runIf(hasGlibc).each(['start', 'dev'] as const)(
  '%s has the settings in the process that was started, which ends as ever',
  { timeout: 60_000 },
  async (name) => {
    const { server, environ, commandLine, run } = await started(name)
    expect(environ).toContain('MALLOC_TRIM_THRESHOLD_=')
    for (const flag of asStarted.flags) expect(commandLine).toContain(flag)
    expect((await run('flags', 'x')).text).toContain('"[]"')
    const { text } = await run('env', 'x')
    expect([text.includes('MALLOC'), text.includes('AGENTSERVE_MEMORY')]).toEqual([false, false])
    expect(await server.stop()).toMatchObject({ code: 0, signal: null })
  },
)

test.runIf(hasGlibc)("a user's own settings count", { timeout: 60_000 }, async () => {
  const { environ, run } = await started('start', { MALLOC_ARENA_MAX: '9' })
  expect([environ.includes('MALLOC_ARENA_MAX=9'), environ.includes('MALLOC_TRIM_THRESHOLD_')]).toEqual([true, false])
  expect((await run('env', 'x')).text).toContain('MALLOC_ARENA_MAX')
  const limited = await started('start', { NODE_OPTIONS: '--max-semi-space-size=8' })
  expect(limited.commandLine.filter((flag) => flag.includes('semi-space'))).toEqual([])
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bin, startArgs } from './start-up.ts'

/*
 * What `agentserve start` keeps of the system's memory after large requests. `node bench/memory-at-rest.ts` sends twenty of
 * 10 MB, one after the other, waits a minute and prints a table: as a user starts it, and with each set of glibc's variables
 * that is given, as in `--with MALLOC_ARENA_MAX=2,MALLOC_TRIM_THRESHOLD_=131072`. Linux only.
 */

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '20' },
    rest: { type: 'string', default: '60' },
    bin: { type: 'string', default: bin },
    with: { type: 'string', multiple: true, default: [] },
  },
})
const bodyBytes = 10 * 1024 * 1024
const most = 400

console.log('| Variables | At the start | After the requests | At rest | CPU |\n|---|---|---|---|---|')
for (const variables of ['', ...options.with]) {
  const { startMb, busyMb, restMb, cpuSeconds } = await measure(variables)
  console.log(`| ${variables || 'none'} | ${startMb} MB | ${busyMb} MB | ${restMb} MB | ${cpuSeconds.toFixed(1)} s |`)
  if (variables === '' && restMb >= most) process.exitCode = 1
}

async function measure(variables: string) {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  const env = { ...process.env, ...Object.fromEntries(variables.split(',').map((pair) => pair.split('=', 2))) }
  const child = spawn(process.execPath, [options.bin, ...startArgs(folder)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env,
  })
  try {
    const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string]
    const { url } = JSON.parse(line) as { url: string }
    const startMb = await residentMb(child.pid)
    const body = JSON.stringify({ input: 'x'.repeat(bodyBytes - 100) })
    for (let sent = 0; sent < Number(options.requests); sent++) {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${url}/api/v1/agents/echo/run`, { method: 'POST', headers, body })
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`a request was answered ${answer.status}`)
    }
    const busyMb = await residentMb(child.pid)
    const cpuSeconds = await cpuSecondsOf(child.pid)
    await sleep(Number(options.rest) * 1000)
    return { startMb, busyMb, restMb: await residentMb(child.pid), cpuSeconds }
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
}

async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024)
}

async function cpuSecondsOf(pid: number | undefined): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

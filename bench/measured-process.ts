import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import type { ProbeAnswer, ProbeRequest } from './probe.ts'

/** A server in its own process, with the probe in it. */
export interface MeasuredProcess {
  url: string
  pid: number
  ask(request: ProbeRequest): Promise<ProbeAnswer>
  /** The most that it has had resident so far. */
  peakRssBytes(): Promise<number>
  /** Its end, by SIGTERM. */
  stop(): Promise<void>
}

// As JavaScript, so that a server that has no TypeScript to load does not carry what strips it.
const probe = withoutTypes(readFileSync(join(import.meta.dirname, 'probe.ts'), 'utf8'))
const probeUrl = `data:text/javascript,${encodeURIComponent(probe)}`

function withoutTypes(code: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(code)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Starts a program that prints a line with its `url` when it serves. */
export async function startMeasured(
  script: string,
  args: string[] = [],
  nodeArgs: string[] = [],
  environment: Record<string, string> = {},
): Promise<MeasuredProcess> {
  const child = spawn(process.execPath, [...nodeArgs, '--import', probeUrl, script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...environment },
  })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const gone = once(child, 'exit')
  const url = await new Promise<string>((resolve, reject) => {
    let printed = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      const line = printed.split('\n').find((one) => one.startsWith('{') && one.endsWith('}'))
      if (line !== undefined) resolve((JSON.parse(line) as { url: string }).url)
    })
    gone.then(([code]) => reject(new Error(`${script} ended (${code}): ${printed}${errors}`)), reject)
  })
  const pid = child.pid ?? 0
  return {
    url,
    pid,
    async ask(request) {
      const answer = once(child, 'message')
      child.send(request)
      return (await answer)[0] as ProbeAnswer
    },
    async peakRssBytes() {
      const status = await readFile(`/proc/${pid}/status`, 'utf8')
      return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
    },
    async stop() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningServer } from '../test/support/program.ts'

const allowed = { runMs: 500, healthMs: 250, megabytes: 900 }
/** What is put in; the echo says as much, and its events hold it once more: 10 MB a run. */
const inputCharacters = 3_300_000

export interface LargeSession {
  rows: string[]
  ok: boolean
}

/** Everything that can be done with a session of so many runs of 10 MB, while somebody else starts a run every 100 ms. */
export async function largeSession(server: RunningServer, runs: number): Promise<LargeSession> {
  const api = `${server.url}/api/v1`
  const post = (path: string, body: unknown) =>
    fetch(`${api}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const drain = async (answer: Promise<Response>) => {
    const response = await answer
    let bytes = 0
    for await (const chunk of response.body ?? []) bytes += chunk.length
    return { status: response.status, bytes }
  }
  const get = (path: string) => drain(fetch(`${api}${path}`))
  const text = 'some words of a long report '.repeat(inputCharacters / 28)
  const rows: string[] = []
  let ok = true
  let worstRun = 0
  let worstHealth = 0
  let stopped = false
  const pending = new Set<Promise<void>>()
  const beside = (async () => {
    while (!stopped) {
      const one = (async () => {
        const begun = performance.now()
        await drain(post('/agents/echo/run', { input: 'beside' }))
        worstRun = Math.max(worstRun, performance.now() - begun)
        const asked = performance.now()
        await drain(fetch(`${server.url}/health`))
        worstHealth = Math.max(worstHealth, performance.now() - asked)
      })().finally(() => pending.delete(one))
      pending.add(one)
      await sleep(100)
    }
    await Promise.all(pending)
  })()
  const step = async (name: string, work: () => Promise<{ status: number; bytes: number }>) => {
    worstRun = 0
    worstHealth = 0
    const begun = performance.now()
    let done = await work()
    while (done.status === 503 && performance.now() - begun < 300_000) {
      await sleep(1_000)
      done = await work()
    }
    const took = performance.now() - begun
    await sleep(150)
    const megabytes = await peakOf(server)
    const fits = worstRun <= allowed.runMs && worstHealth <= allowed.healthMs && megabytes <= allowed.megabytes
    ok &&= done.status < 300 && fits
    rows.push(
      `${name}: ${done.status}, ${(done.bytes / 1e6).toFixed(1)} MB in ${(took / 1000).toFixed(1)} s; ` +
        `run beside ${Math.round(worstRun)} ms, /health ${Math.round(worstHealth)} ms, peak ${megabytes} MB`,
    )
    console.log(rows.at(-1))
  }
  await post('/sessions', { session_id: 'large' }).then((response) => response.text())
  try {
    await step('filled', async () => {
      let last = { status: 0, bytes: 0 }
      for (let run = 0; run < runs; run++) {
        last = await drain(post('/agents/echo/run', { input: text, session_id: 'large' }))
      }
      return last
    })
    await step('listed', () => get('/sessions'))
    await step('read', () => get('/sessions/large'))
    await step('history', () => get('/sessions/large/history?num_messages=1000'))
    await step('history with events', () => get('/sessions/large/history?num_messages=1000&stream_events=true'))
    await step('runs', () => get('/sessions/large/runs?limit=100'))
    await step('summarised', () => drain(post('/sessions/large/summary', {})))
    await step('searched', () => get('/messages?q=report'))
    await step('exported', () => get('/sessions/large/export'))
    await step('imported', async () => {
      const exported = await fetch(`${api}/sessions/large/export`)
      const headers = { 'content-type': 'application/x-ndjson' }
      const body = exported.body
      return drain(fetch(`${api}/sessions/import?new_ids=true`, { method: 'POST', headers, body, duplex: 'half' }))
    })
    await step('forked', () => drain(post('/sessions/large/fork', {})))
    await step('deleted', () => drain(fetch(`${api}/sessions/large`, { method: 'DELETE' })))
    await step('rested', async () => {
      await sleep(10_000)
      return { status: 200, bytes: 0 }
    })
  } finally {
    stopped = true
    await beside
  }
  return { rows, ok }
}

async function peakOf({ child }: RunningServer): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}

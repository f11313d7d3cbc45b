import { get } from 'node:http'

/** Reads the events of a run of the agent `stamped`. */
export interface Reader {
  /** From each fragment to its arrival here, in milliseconds. */
  latenciesMs: number[]
  /** Rejects when the stream breaks before the end of the run. */
  ended: Promise<void>
}

/** Starts `stamped` with this many fragments, so many milliseconds apart, in the background. */
export async function startStamped(url: string, fragments: number, pauseMs: number): Promise<string> {
  const answer = await fetch(`${url}/api/v1/agents/stamped/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ input: `${fragments} ${pauseMs}`, background: true }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the run does not start: ${answer.status} ${text}`)
  return (JSON.parse(text) as { run_id: string }).run_id
}

export function readRun(url: string, runId: string): Reader {
  const latenciesMs: number[] = []
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  let unread = ''
  const take = (text: string): void => {
    const now = process.hrtime.bigint()
    const frames = `${unread}${text}`.split('\n\n')
    unread = frames.pop() ?? ''
    for (const frame of frames) {
      if (frame.includes('"type":"run_end"')) resolve()
      if (!frame.includes('"type":"text_delta"')) continue
      for (const [stamp] of frame.matchAll(/\d{9,}(?= )/g)) latenciesMs.push(Number(now - BigInt(stamp)) / 1e6)
    }
  }
  const request = get(`${url}/api/v1/runs/${runId}/events`, { agent: false }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`the events of ${runId}: ${response.statusCode}`))
    response.setEncoding('latin1').on('data', take)
    response.on('error', reject).on('close', () => reject(new Error('the stream broke')))
  })
  request.on('error', reject)
  ended.catch(() => {})
  return { latenciesMs, ended }
}

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
  body: any
}

/** One request, as it is: no retry, no redirect to another instance. Rejects when the connection fails. */
export async function ask(
  url: string,
  path: string,
  { body, method, headers, signal }: { body?: unknown; method?: string; headers?: object; signal?: AbortSignal } = {},
): Promise<Answer> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The frames of a run's events, byte for byte, without heartbeats: after a number, until the end or so many frames. */
export async function readFrames(
  url: string,
  runId: string,
  { after, count = Number.POSITIVE_INFINITY }: { after?: number; count?: number } = {},
): Promise<string[]> {
  const leaving = new AbortController()
  const answer = await fetch(`${url}/api/v1/runs/${runId}/events`, {
    headers: after === undefined ? {} : { 'Last-Event-ID': `${after}` },
    signal: leaving.signal,
  })
  if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
  const frames: string[] = []
  let rest = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      rest += decoder.decode(chunk, { stream: true })
      const whole = rest.split('\n\n')
      rest = whole.pop() ?? ''
      frames.push(...whole.filter((frame) => !frame.startsWith(':')))
      if (frames.length >= count) return frames.slice(0, count)
    }
    return frames
  } finally {
    leaving.abort()
  }
}

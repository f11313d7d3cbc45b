import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const startsAtOnce = 50
const connectsAtOnce = 100

/** So many runs in the background that have begun, and wait until they are cancelled. */
export async function startWaiting(url: string, count: number): Promise<string[]> {
  return inTurns(count, startsAtOnce, async () => {
    const answer = await fetch(`${url}/api/v1/agents/waiting/run`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ input: 'Wait.', background: true }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`a run does not start: ${answer.status} ${text}`)
    return (JSON.parse(text) as { run_id: string }).run_id
  })
}

/** A stream of the events of each run, on a socket of its own; what arrives is thrown away. */
export async function openStreams(url: string, runIds: readonly string[]): Promise<Socket[]> {
  const { hostname, port } = new URL(url)
  return inTurns(runIds.length, connectsAtOnce, async (index) => {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(
      `GET /api/v1/runs/${runIds[index]}/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: text/event-stream\r\n\r\n`,
    )
    const refused = once(socket, 'close').then(() => {
      throw new Error(`stream ${index + 1} was closed before it began`)
    })
    refused.catch(() => {})
    const [first] = (await Promise.race([once(socket, 'data'), refused])) as [Buffer]
    const status = first.toString('latin1', 0, 12)
    if (status !== 'HTTP/1.1 200') throw new Error(`a stream does not open: ${first.toString('latin1', 0, 300)}`)
    socket.on('error', () => {}).resume()
    return socket
  })
}

export async function closeAll(sockets: readonly Socket[]): Promise<void> {
  const closed = sockets.map((socket) => (socket.destroyed ? undefined : once(socket, 'close')))
  for (const socket of sockets) socket.destroy()
  await Promise.all(closed)
}

async function inTurns<T>(count: number, atOnce: number, one: (index: number) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (let from = 0; from < count; from += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => one(from + index))
    all.push(...(await Promise.all(some)))
  }
  return all
}

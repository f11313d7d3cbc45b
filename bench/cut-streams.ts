import { setTimeout as sleep } from 'node:timers/promises'
import { EventReader } from '../test/support/client/event-reader.ts'
import type { RunningServer } from '../test/support/program.ts'
import { fragment } from './fragment.ts'

const atOnce = 50
const fragmentCount = 200
/** design.md: text is durable within so much. */
const windowCharacters = 4096

export interface CutStreams {
  streams: number
  cuts: number
  kills: number
  interrupted: number
  /** What a run declared as lost, of those that a kill ended. */
  truncated: number
  /** What should not be: a number missing or twice, other text, a loss that was not declared. */
  wrong: string[]
}

/**
 * Reads `count` runs of 200 fragments, 50 at a time, each cut after every few hundred bytes at random and taken up again; the
 * server is killed in the middle of every second 50. `start` starts it, again on the same data.
 */
export async function cutStreams(start: () => Promise<RunningServer>, count: number): Promise<CutStreams> {
  const found: CutStreams = { streams: 0, cuts: 0, kills: 0, interrupted: 0, truncated: 0, wrong: [] }
  let server = await start()
  while (found.streams < count) {
    const readers: EventReader[] = []
    for (let index = 0; index < Math.min(atOnce, count - found.streams); index++) {
      readers.push(new EventReader(server.url, await startRun(server.url)))
    }
    const kills = (found.streams / atOnce) % 2 === 1
    let down = Promise.resolve()
    const reading = readers.map(async (reader) => {
      while (!reader.ended) {
        await reader.read(1 + Math.floor(Math.random() * 4000))
        await down
      }
    })
    if (kills) {
      await sleep(Math.random() * 300)
      down = restart()
      await down
    }
    await Promise.all(reading)
    for (const reader of readers) await check(server.url, reader, found)

    async function restart(): Promise<void> {
      await server.kill()
      found.kills++
      server = await start()
      for (const reader of readers) reader.url = server.url
    }
  }
  await server.kill()
  return found
}

async function startRun(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/agents/ticking/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ input: `${fragmentCount}`, background: true }),
  })
  const { run_id } = (await answer.json()) as { run_id: string }
  return run_id
}

async function check(url: string, reader: EventReader, found: CutStreams): Promise<void> {
  found.streams++
  found.cuts += reader.cuts
  const answer = await fetch(`${url}/api/v1/runs/${reader.runId}`)
  const run = (await answer.json()) as { status: string; truncated?: boolean; content: string }
  const whole = Array.from({ length: fragmentCount }, (_, index) => fragment(index)).join('')
  const lost = reader.text.length - run.content.length
  const say = (what: string) => found.wrong.push(`${reader.runId} (${run.status}): ${what}`)
  if (reader.gaps.length > 0) say(`${reader.gaps.length} numbers missing, the first is ${reader.gaps[0]}`)
  if (reader.twice.length > 0) say(`${reader.twice.length} numbers twice, the first is ${reader.twice[0]}`)
  if (!reader.text.startsWith(run.content)) say('the record has text that was not sent')
  if (!whole.startsWith(reader.text)) say('other text than the agent gave')
  if (run.status === 'interrupted') {
    found.interrupted++
    if (run.truncated) found.truncated++
    if (lost > 0 && !run.truncated) say(`${lost} characters are gone that nothing declares`)
    if (lost > windowCharacters) say(`${lost} characters are gone, more than the last window`)
  } else if (run.status !== 'completed' || reader.text !== whole || lost !== 0) say('it is not whole')
}

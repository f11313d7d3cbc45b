import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, type LiveEvent } from '../../src/client/index.ts'
import { createPicture, listedBy, type Picture } from '../../test/support/client/picture.ts'
import type { Instance } from '../../test/support/cluster/instances.ts'
import type { Told } from './told.ts'

const againMs = 200
/** Changes come at most every two seconds, and from other instances a second later. */
const catchUpMs = 15_000

export interface LiveReaders {
  /** Holds what each of them knows by now against the lists, and ends them. */
  verify(): Promise<void>
  /** Ends them as they are. */
  stop(): Promise<void>
}

/** On each instance a reader of the live stream, which reads the lists when it is told to, and else only what has changed. */
export function startLiveReaders(instances: readonly Instance[], told: Told): LiveReaders {
  const leaving = new AbortController()
  const { signal } = leaving
  const readers = instances.map(({ url, name }) => {
    const client = createClient({ url, retries: 5 })
    const picture = createPicture(client)
    return { name, client, picture, reading: read(client, picture, signal) }
  })
  const stop = async () => {
    leaving.abort()
    await Promise.all(readers.map(({ reading }) => reading))
    await Promise.all(readers.map(({ client }) => client.close()))
  }
  return {
    stop,
    async verify() {
      for (const { name, client, picture } of readers) {
        const wrong = await untilEqual(client, picture)
        if (wrong.length > 0)
          told.wrong(`the live stream of ${name} has not told of ${wrong.length} changes: ${wrong[0]}`)
      }
      await stop()
    },
  }
}

async function read(client: Client, picture: Picture, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const event of client.live({ signal, reconnects: 1_000 })) await take(picture, event, signal)
    } catch {
      // The server is away, or the reader leaves.
    }
    await sleep(againMs, undefined, { signal }).catch(() => {})
  }
}

/** Lists can't be read while the server has no database; until they are, nothing else is. */
async function take(picture: Picture, event: LiveEvent, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await picture.add(event)
    } catch {
      await sleep(againMs, undefined, { signal }).catch(() => {})
    }
  }
}

/** What is different after a while, a sentence each. */
async function untilEqual(client: Client, picture: Picture): Promise<string[]> {
  const endsAt = performance.now() + catchUpMs
  for (;;) {
    const listed = await listedBy(client)
    const ids = new Set([...listed.keys(), ...picture.sessions.keys()])
    const wrong = [...ids].flatMap((id) => {
      const [is, known] = [listed.get(id), picture.sessions.get(id)]
      return is === known ? [] : `${id} is ${is}, and known as ${known}`
    })
    if (wrong.length === 0 || performance.now() > endsAt) return wrong
    await sleep(againMs)
  }
}

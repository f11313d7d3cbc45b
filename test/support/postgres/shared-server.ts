import { chmod, mkdir } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { dropPlaces, prefixOf } from './places.ts'
import { type PostgresServer, startPostgres } from './server.ts'
import { setSharedFolder, sharedFolder } from './shared-folder.ts'

export type SharedAddress = Pick<PostgresServer, 'url' | 'adminUrl'>
type Answer = SharedAddress | { error: string }

const socketOf = (folder: string) => join(folder, 'ask')

/**
 * Keeps the server that the processes of a run share: this process starts it for the first that asks, so that it ends
 * with the run and not with a worker. The returned function stops it; its files stay in the folder.
 */
export async function keepSharedPostgres(folder: string): Promise<() => Promise<void>> {
  if (process.platform === 'win32') return async () => undefined
  await mkdir(folder)
  await chmod(folder, 0o711)
  setSharedFolder(folder)
  let started: Promise<PostgresServer> | undefined
  const door = createServer((socket) => {
    started ??= startPostgres({ parent: folder, leavesWith: folder })
    const answer = (said: Answer) => socket.end(JSON.stringify(said))
    socket.on('error', () => undefined)
    started.then(
      ({ url, adminUrl }) => answer({ url, adminUrl }),
      (error) => answer({ error: String(error) }),
    )
  })
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject)
    door.listen(socketOf(folder), resolve)
  })
  door.unref()
  return async () => {
    door.close()
    await (await started?.catch(() => undefined))?.stop()
    const given = process.env.AGENTSERVE_TEST_POSTGRES
    if (given !== undefined) await dropPlaces(given, prefixOf(folder))
  }
}

export async function findSharedPostgres(): Promise<SharedAddress> {
  const folder = sharedFolder()
  if (folder === undefined) throw new Error('Only the tests have a shared Postgres: use startPostgres().')
  const answer: Answer = JSON.parse(await text(createConnection(socketOf(folder))))
  if ('error' in answer) throw new Error(`The tests could not start Postgres. ${answer.error}`)
  return answer
}

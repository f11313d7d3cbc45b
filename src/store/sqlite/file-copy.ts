import { open } from 'node:fs/promises'
import { Connection } from './connection.ts'

const busyTimeoutMs = 5_000

/** Maximum size of a copy; free pages are not copied. */
export async function copyBytes(path: string): Promise<number> {
  return reading(path, async (connection) => {
    const [pages] = await connection.all('PRAGMA page_count')
    const [free] = await connection.all('PRAGMA freelist_count')
    const [size] = await connection.all('PRAGMA page_size')
    return (Number(pages?.page_count) - Number(free?.freelist_count)) * Number(size?.page_size)
  })
}

/** Copies the database, as of one moment and without deleted data, to a new private file. Blocks a WAL restart. */
export async function copyFile(path: string, to: string): Promise<void> {
  await (await open(to, 'wx', 0o600)).close()
  await reading(path, (connection) => connection.run('VACUUM INTO ?', [to]))
}

async function reading<T>(path: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await Connection.open({ path, readonly: true, busyTimeoutMs })
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { Client } from 'pg'
import type { ConnectionMode } from '../../../src/store/postgres/connection.ts'

export interface PgvectorServer {
  url: string
  /** Connections of PGlite share one session, so each transaction needs its settings. */
  connections: ConnectionMode
  newSchema(): string
  execute(statements: string): Promise<unknown>
  stop(): Promise<void>
}

let schemas = 0
let databases = 0

/**
 * A Postgres with pgvector: that of AGENTSERVE_TEST_PGVECTOR, whose role must be a superuser; else PGlite in this process,
 * which has one session for all connections. That is good for what statements mean, not for what happens at the same time.
 */
export async function startPgvector(): Promise<PgvectorServer> {
  const given = process.env.AGENTSERVE_TEST_PGVECTOR
  return given === undefined ? startPglite() : givenServer(given)
}

async function startPglite(): Promise<PgvectorServer> {
  const database = await PGlite.create({ extensions: { vector } })
  const server = new PGLiteSocketServer({ db: database, port: 0, host: '127.0.0.1', maxConnections: 40 })
  await server.start()
  return {
    url: `postgres://postgres:postgres@${server.getServerConn()}/postgres`,
    connections: 'pooled',
    newSchema: () => `vectors_${++schemas}`,
    execute: (statements) => database.exec(statements),
    async stop() {
      await server.stop()
      await database.close()
    },
  }
}

/** Each has a database of its own there, because tests drop the extension. */
async function givenServer(address: string): Promise<PgvectorServer> {
  const name = `test_vectors_${process.pid}_${++databases}`
  const own = new URL(address)
  own.pathname = name
  const execute = async (url: string, statements: string) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(statements).finally(() => client.end())
  }
  await execute(address, `CREATE DATABASE ${name}`)
  return {
    url: own.href,
    connections: 'direct',
    newSchema: () => `vectors_${++schemas}`,
    execute: (statements) => execute(own.href, statements),
    stop: () => execute(address, `DROP DATABASE ${name} WITH (FORCE)`),
  }
}

import { execute, prefixOf } from './places.ts'
import { sharedFolder } from './shared-folder.ts'
import { findSharedPostgres, type SharedAddress } from './shared-server.ts'

/** Removed with all that is in it when it is dropped, and at the end of the run of the tests at the latest. */
export interface Place {
  name: string
  url: string
  adminUrl: string
  drop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface TestPostgres extends SharedAddress {
  /** The name of a schema that does not exist yet, so that tests share no table. */
  newSchema(): Place
  /** An empty database, for what schemas share: advisory locks, NOTIFY, extensions. */
  newDatabase(): Promise<Place>
}

/** The server of AGENTSERVE_TEST_POSTGRES, else the one that all tests of the run share. */
export function testPostgres(): Promise<TestPostgres> {
  opened ??= open()
  return opened
}

let opened: Promise<TestPostgres> | undefined
let places = 0

async function open(): Promise<TestPostgres> {
  const given = process.env.AGENTSERVE_TEST_POSTGRES
  const address = given === undefined ? await findSharedPostgres() : { url: given, adminUrl: given }
  const prefix = prefixOf(sharedFolder() ?? `${process.pid}`)
  const newName = () => `${prefix}${process.pid}_${++places}`
  return {
    ...address,
    newSchema() {
      const name = newName()
      return place(name, address, () => execute(address.adminUrl, `DROP SCHEMA IF EXISTS ${name} CASCADE`))
    },
    async newDatabase() {
      const name = newName()
      await execute(address.url, `CREATE DATABASE ${name}`)
      const own = { url: inDatabase(address.url, name), adminUrl: inDatabase(address.adminUrl, name) }
      // An autovacuum that is at work there may be ended by an administrator alone.
      return place(name, own, () => execute(address.adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    },
  }
}

function place(name: string, address: SharedAddress, execution: () => Promise<unknown>): Place {
  const drop = async () => {
    await execution()
  }
  return { name, ...address, drop, [Symbol.asyncDispose]: drop }
}

function inDatabase(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = name
  return address.href
}

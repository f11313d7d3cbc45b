import { describe, expect, test } from 'vitest'
import { whyNoPostgres } from './support.ts'

/** Tests against `testPostgres()`. They are skipped where it can't start, which is a failure when CI is set. */
export function describePostgres(name: string, body: () => void): void {
  describeUnless(process.env.AGENTSERVE_TEST_POSTGRES === undefined ? whyNoPostgres() : undefined, name, body)
}

/** Tests against servers that they start themselves. */
export function describeOwnPostgres(name: string, body: () => void): void {
  describeUnless(whyNoPostgres(), name, body)
}

function describeUnless(why: string | undefined, name: string, body: () => void): void {
  if (why === undefined) describe(name, body)
  else if (/^(?:1|true)$/.test(process.env.CI ?? ''))
    describe(name, () => test('has a Postgres', () => expect.fail(`With CI set, Postgres is needed, but ${why}.`)))
  else {
    console.warn(`Skipped "${name}": ${why}.`)
    describe.skip(`${name} (skipped: ${why})`, body)
  }
}

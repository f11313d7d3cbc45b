import { afterEach, describe } from 'vitest'
import type { SessionStore } from '../../src/core/store.ts'
import { testBackgroundWork } from './store-cluster/background.ts'
import { testDeath } from './store-cluster/death.ts'
import { testSharedKeys } from './store-cluster/keys.ts'
import { joinAll, type Members } from './store-cluster/members.ts'
import { testReaders } from './store-cluster/readers.ts'
import { testTakeover } from './store-cluster/takeover.ts'
import { testSharedTurns } from './store-cluster/turns.ts'
import { testWakes } from './store-cluster/wakes.ts'

/** Gives stores of one new, empty content, not open yet. */
type Create = (count: number) => Promise<SessionStore[]>

/** What drivers must do that several processes write to. */
export function testCluster(name: string, create: Create): void {
  testMembers(name, create, (members) => {
    testSharedTurns(members)
    testDeath(members)
    testTakeover(members)
    testWakes(members)
    testBackgroundWork(members)
    testReaders(members)
    testSharedKeys(members)
  })
}

/** Only what runs are told of their sessions. */
export function testClusterReaders(name: string, create: Create): void {
  testMembers(name, create, testReaders)
}

function testMembers(name: string, create: Create, test: (members: Members) => void): void {
  describe(`store cluster: ${name}`, () => {
    let open: SessionStore[] = []
    afterEach(async () => {
      await Promise.all(open.map((store) => store.close()))
      open = []
    })
    const members = (async (count: number) => {
      open = await create(count)
      await Promise.all(open.map((store) => store.open()))
      return joinAll(open)
    }) as Members
    test(members)
  })
}

import { expect, onTestFailed, test } from 'vitest'
import { describeSoak, soakCluster } from '../../../../bench/cluster-soak.ts'
import { describeOwnPostgres } from '../../../support/postgres/describe-postgres.ts'
import { seededRandom } from '../../../support/seeded-random.ts'

describeOwnPostgres('three instances on one Postgres', () => {
  // In a quarter of an hour the soak has the longer faults, and a disk that is full.
  test('keep what they have said, whatever goes wrong for a minute', { timeout: 240_000, retry: 0 }, async () => {
    const seed = Math.floor(seededRandom()() * 2 ** 31)
    const soak = await soakCluster({
      ...{ seed, seconds: 60, clients: 24, longestMs: 20_000 },
      first: ['rolling restart', 'long stop', 'kill', 'clock'],
    })
    onTestFailed(() => console.error(describeSoak(soak)))
    expect(soak.violations).toEqual([])
    expect(soak.faults.length).toBeGreaterThan(8)
    expect(soak.ends.get('completed')).toBeGreaterThan(50)
  })
})

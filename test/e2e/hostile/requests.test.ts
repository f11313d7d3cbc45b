import { expect, test } from 'vitest'
import { outliveHostile } from '../../support/hostile/server.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { testPostgres } from '../../support/postgres/test-postgres.ts'
import { testSeed } from '../../support/seeded-random.ts'

test.each([
  { guard: 'nothing', count: 3_500, warmUp: 1_500 },
  { guard: 'keys', count: 1_000, warmUp: 500 },
  { guard: 'keys behind a proxy', count: 1_000, warmUp: 500 },
] as const)(
  'a server that asks for $guard answers $count hostile requests in the one shape, and is as it was',
  {
    timeout: 240_000,
    retry: 0,
  },
  async ({ guard, count, warmUp }) => {
    const seed = testSeed() % 1_000_000
    const { grownMb, requests, statuses, codes, ...outcome } = await outliveHostile(count, seed, warmUp, guard)
    expect(outcome, `seed ${seed}`).toEqual({ wrong: [], readiness: 200, exitCode: 0, failures: [] })
    expect(requests).toBeGreaterThanOrEqual(count)
    expect(grownMb, `seed ${seed}`).toBeLessThan(50)
    // Some got as far as they can, and were not only refused. How many a server with limits lets in depends on the time.
    const done = [200, 201, 204].filter((status) => statuses.has(status))
    if (guard === 'nothing') expect(done, `seed ${seed}`).toEqual([200, 201, 204])
    else expect(done, `seed ${seed}`).toContain(200)
    const refused = guard === 'nothing' ? [] : ['401 unauthorized', '403 forbidden', '429 rate_limited']
    expect([...codes.keys()], `seed ${seed}`).toEqual(expect.arrayContaining(refused))
  },
)

describePostgres('a server on Postgres', () => {
  test('answers 1500 hostile requests in the one shape, and is as it was', { timeout: 240_000, retry: 0 }, async () => {
    const seed = testSeed() % 1_000_000
    const { url, newSchema } = await testPostgres()
    await using place = newSchema()
    const database = { url, schema: place.name }
    const { grownMb, statuses, codes, requests, ...outcome } = await outliveHostile(1_500, seed, 750, 'keys', database)
    expect(outcome, `seed ${seed}`).toEqual({ wrong: [], readiness: 200, exitCode: 0, failures: [] })
    expect(requests).toBeGreaterThanOrEqual(1_500)
    expect(grownMb, `seed ${seed}`).toBeLessThan(50)
    for (const status of [200, 201, 204]) expect(statuses.get(status), `seed ${seed}`).toBeGreaterThan(0)
    expect([...codes.keys()], `seed ${seed}`).toContain('401 unauthorized')
  })
})

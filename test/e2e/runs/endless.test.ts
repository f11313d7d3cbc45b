import { expect, it } from 'vitest'
import { endlessEnds, playEndless } from '../../support/hostile/endless.ts'

it('what never stops ends with the name of a limit, and others are served beside it', {
  timeout: 120_000,
}, async () => {
  const limits = `{ run: { output: '512KB', events: 2000, steps: 5 }, toolResult: { record: '256KB' }, mcpMessage: '256KB' }`
  const runs = await playEndless(limits)
  expect(runs.map(({ agent }) => agent)).toEqual(Object.keys(endlessEnds))
  for (const { agent, said } of runs) expect(said, agent).toContain(endlessEnds[agent])
})

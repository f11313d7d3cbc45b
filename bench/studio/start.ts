import { join } from 'node:path'
import { type Estimate, estimateMedian } from '../against/interval.ts'
import { thisBuild, untilReady } from '../start-up.ts'

const config = join(import.meta.dirname, 'start.config.ts')

/** How much later `dev` serves than without the studio, in ms: the two in turns. */
export async function measureStart(pairs: number): Promise<Estimate> {
  const differences: number[] = []
  const ready = (studio: 'on' | 'off') => untilReady(thisBuild, { config, environment: { BENCH_STUDIO: studio } })
  // The first pair compiles.
  for (let pair = 0; pair <= pairs; pair++) {
    const isFirst = pair % 2 === 0
    const one = await ready(isFirst ? 'on' : 'off')
    const other = await ready(isFirst ? 'off' : 'on')
    if (pair > 0) differences.push(isFirst ? one - other : other - one)
  }
  return estimateMedian(differences)
}

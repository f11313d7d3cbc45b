import { availableParallelism, cpus } from 'node:os'
import { resolve } from 'node:path'
import { thisBuild } from '../start-up.ts'
import { filesBenchmark } from './files.ts'
import { estimateMedian } from './interval.ts'
import { knowledgeBenchmark } from './knowledge.ts'
import { loadBenchmark } from './load.ts'
import { modelBenchmark } from './model.ts'
import type { Benchmark, Figure } from './row.ts'
import { startUpBenchmark } from './start-up.ts'

const fewestPairs = 10

export interface Comparison {
  /** A built checkout of another commit. */
  against: string
  /** How often each build is measured; at least 10. */
  pairs: number
  /** A second for each load, and fewer files. */
  quick: boolean
  /** Of the benchmarks (load, start-up, knowledge, model, files), only those whose name has this text. */
  only: string
}

/**
 * Measures this build and another in turns, each time in new processes, and gives a Markdown table of the ratios this / other:
 * the median and its 95 % interval. Which build is first changes from pair to pair.
 */
export async function compareBuilds({ against, pairs, quick, only }: Comparison): Promise<string> {
  if (!(pairs >= fewestPairs)) throw new RangeError(`--pairs takes a number from ${fewestPairs} on.`)
  const other = resolve(against)
  const benchmarks = allBenchmarks(quick).filter(({ name }) => name.includes(only))
  const measured = new Map<string, { unit: string; here: number[]; there: number[] }>()
  const keep = ({ name, unit, value }: Figure, side: 'here' | 'there'): void => {
    const row = measured.get(name) ?? { unit, here: [], there: [] }
    row[side].push(value)
    measured.set(name, row)
  }
  for (let pair = 0; pair < pairs; pair++) {
    for (const benchmark of benchmarks) {
      const turns = pair % 2 === 0 ? [thisBuild, other] : [other, thisBuild]
      for (const build of turns) {
        console.error(`pair ${pair + 1} of ${pairs}: ${benchmark.name}, ${build === other ? 'other' : 'this'} build`)
        for (const figure of await benchmark.measure(build)) keep(figure, build === other ? 'there' : 'here')
      }
    }
  }

  const rows = [...measured].map(([name, { unit, here, there }]) => {
    // An older build can't do it.
    if (there.length === 0)
      return `| ${name} | ${digits(estimateMedian(here).median)} ${unit} | – | – | – | only this |`
    const ratio = estimateMedian(here.map((value, pair) => value / (there[pair] ?? Number.NaN)))
    const medians = [here, there].map((values) => `${digits(estimateMedian(values).median)} ${unit}`)
    const cells = [name, ...medians, ratio.median.toFixed(3), `${ratio.low.toFixed(3)} – ${ratio.high.toFixed(3)}`]
    return `| ${[...cells, verdict(ratio.low, ratio.high)].join(' | ')} |`
  })
  return [
    `${pairs} pairs, ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.version}. Smaller is better; ` +
      'a build is worse by more than N % when the whole interval lies above 1 + N / 100.',
    '',
    '| Benchmark | this | other | this / other | 95 % interval | worse by more than |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

function allBenchmarks(quick: boolean): Benchmark[] {
  return [
    loadBenchmark(quick ? { warmUpMs: 300, measureMs: 1_000 } : { warmUpMs: 1_000, measureMs: 3_000 }),
    startUpBenchmark,
    knowledgeBenchmark(quick ? { files: 500, searches: 100 } : { files: 2_000, searches: 300 }),
    modelBenchmark,
    filesBenchmark({ runs: quick ? 30 : 100 }),
  ]
}

function verdict(low: number, high: number): string {
  if (low > 1) return `${((low - 1) * 100).toFixed(1)} %`
  return high < 1 ? 'better' : 'no difference shown'
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

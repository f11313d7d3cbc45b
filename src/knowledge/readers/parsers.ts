import { leastBusy } from '../../runtime/least-busy.ts'
import { createParserProcess, type ParserLimits, type ParserProcess } from './parser-process.ts'

export type { ParserLimits } from './parser-process.ts'

/** Of all that one preparer has: whoever hands out turns keeps to it. */
export const parsersAtOnce = 2

const defaults: ParserLimits = {
  timeoutMs: 60_000,
  cpuMs: 5_000,
  cpuMsPerMegabyte: 1_000,
  memoryBytes: 1024 ** 3,
  idleMs: 10_000,
}

/** Two parsers: a document goes to the one that has least to do, so that the second is started only beside the first. */
export function createParsers(given: Partial<ParserLimits> = {}): ParserProcess {
  const limits = { ...defaults, ...given }
  const parsers = Array.from({ length: parsersAtOnce }, () => createParserProcess(limits))
  const run = leastBusy(parsers)
  return {
    parse: (work, signal) => run((parser) => parser.parse(work, signal)),
    async close() {
      await Promise.all(parsers.map((parser) => parser.close()))
    },
  }
}

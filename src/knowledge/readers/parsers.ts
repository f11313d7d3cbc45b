import { leastBusy } from '../../runtime/least-busy.ts'
import { createParserProcess, type ParserLimits, type ParserProcess } from './parser-process.ts'

export type { ParserLimits } from './parser-process.ts'

/** Per preparer; its scheduler keeps to this number. */
export const parsersAtOnce = 2

const defaults: ParserLimits = {
  timeoutMs: 60_000,
  cpuMs: 5_000,
  cpuMsPerMegabyte: 1_000,
  memoryBytes: 1024 ** 3,
  idleMs: 10_000,
}

/** Two parsers: a document goes to the least busy one, so the second starts only when the first is busy. */
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

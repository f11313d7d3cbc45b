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
  const parsers = Array.from({ length: parsersAtOnce }, () => ({ process: createParserProcess(limits), load: 0 }))
  return {
    async parse(work, signal) {
      const parser = parsers.reduce((least, each) => (each.load < least.load ? each : least))
      parser.load++
      try {
        return await parser.process.parse(work, signal)
      } finally {
        parser.load--
      }
    },
    async close() {
      await Promise.all(parsers.map(({ process }) => process.close()))
    },
  }
}

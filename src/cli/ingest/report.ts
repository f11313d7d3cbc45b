import { count } from '../terminal/count.ts'
import { printJson, say } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'
import { terminalLine } from '../terminal/text.ts'
import type { FileResult } from './files.ts'

const outcomes = ['added', 'replaced', 'unchanged', 'pruned', 'skipped'] as const

export interface IngestReport {
  begin(files: number): void
  /** That this many more are known to come. */
  expect(more: number): void
  add(result: FileResult): void
  /** Files that are told in the summary and not counted. */
  leaveOut(generated: readonly string[]): void
  end(): void
  /** Whether there were files and none could be ingested. */
  failed(): boolean
}

export interface IngestReportOptions {
  json?: boolean
  dryRun?: boolean
  /** Prints the summary only when something is new or failed. */
  quiet?: boolean
}

export function createIngestReport({ json, dryRun, quiet }: IngestReportOptions): IngestReport {
  const counts = new Map<FileResult['outcome'], number>()
  const skipped: FileResult[] = []
  const progress = createProgress()
  const startedMs = performance.now()
  let total = 0
  let done = 0
  let pages = 0
  let chunks = 0
  let generated: readonly string[] = []

  const noun = () => (pages > 0 && pages === done ? 'page' : 'file')
  const state = (): string => {
    const seconds = (performance.now() - startedMs) / 1000
    const rate = done / Math.max(seconds, 0.001)
    const left = Math.ceil((total - done) / Math.max(rate, 0.001))
    return `${noun()}s, ${count(chunks, 'chunk')}, ${Math.round(rate)}/s, ${left} s left`
  }

  return {
    begin(files) {
      total = files
    },
    expect(more) {
      total = done + more
    },
    add(result) {
      done++
      if (/^https?:/i.test(result.source)) pages++
      chunks += result.outcome === 'pruned' ? 0 : result.chunks
      counts.set(result.outcome, (counts.get(result.outcome) ?? 0) + 1)
      if (result.outcome === 'skipped') skipped.push(result)
      if (json) printJson(result)
      progress.update(done, Math.max(done, total), `${state()}  ${result.source}`)
    },
    leaveOut(files) {
      generated = files
    },
    end() {
      progress.end()
      if (done === 0 || (quiet && counts.get('unchanged') === done)) return
      const words = outcomes.flatMap((name) => {
        const many = counts.get(name) ?? 0
        return many > 0 || name !== 'pruned' ? `${many} ${name}` : []
      })
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
      const what = dryRun ? 'would be' : `${count(chunks, 'chunk')}, ${seconds} s`
      say(`${count(done, noun())}, ${what}: ${words.join(', ')}.`)
      for (const { source, reason } of skipped) say(`  skipped ${terminalLine(source)}: ${terminalLine(reason ?? '')}`)
      if (generated.length > 0) say(leftOut(generated).trim())
    },
    failed: () => done > 0 && skipped.length === done,
  }
}

const mostNamed = 5

/** A sentence with a space before it; empty when there are no such files. */
export function leftOut(generated: readonly string[]): string {
  if (generated.length === 0) return ''
  const [what, it] = generated.length === 1 ? ['1 file', 'it'] : [`${generated.length} files`, 'a file']
  const more = generated.length > mostNamed ? ', …' : ''
  const named = generated.slice(0, mostNamed).map(terminalLine).join(', ')
  return ` Left out ${what} that programs write (lock files, minified files, source maps, completions): ${named}${more}. Name ${it} itself to ingest it.`
}

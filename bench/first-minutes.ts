import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPty } from '../test/support/pty.ts'

const guides = join(import.meta.dirname, '../docs')
const budgets = { questionMs: 1_500, answerMs: 300 }

interface Start {
  /** From the start of bin/agentserve.js until the first question to choose is on the screen. */
  questionMs: number
  /** From Enter until the answer with its last source is there, and the chat waits for the next message. */
  answerMs: number
}

/**
 * `agentserve` alone in a terminal, in a folder of the Markdown files of docs/: the first start, which reads the files, and
 * medians of `starts` later ones.
 */
export async function measureFirstMinutes({ starts }: { starts: number }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  try {
    // With a README, that alone would be read.
    const files = (await readdir(guides)).filter((name) => name.endsWith('.md') && name !== 'README.md')
    for (const name of files) await cp(join(guides, name), join(folder, name))
    const first = await startIn(folder, files.length)
    const later: Start[] = []
    for (let count = 0; count < starts; count++) later.push(await startIn(folder, files.length))
    return toMarkdown(files.length, first, later)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function startIn(folder: string, files: number): Promise<Start> {
  const startedAt = performance.now()
  // A key in the environment would be told of, in another line.
  const terminal = openPty({ folder }, [], { columns: 80, rows: 40 })
  try {
    await terminal.until('❯ 1')
    if (!terminal.text().includes(`Answers from ${files} files`))
      throw new Error(`not all files are read:\n${terminal.text()}`)
    const askedAt = performance.now()
    terminal.send('\r')
    await terminal.until(/\n\[\d\] \S+:\d+\n {2}\d+ ms\n[\s\S]*Enter sends/)
    const questionMs = askedAt - startedAt
    const answerMs = performance.now() - askedAt
    terminal.send('\x04')
    await terminal.exited
    return { questionMs, answerMs }
  } finally {
    await terminal.close()
  }
}

function toMarkdown(files: number, first: Start, later: readonly Start[]): string {
  const median = (pick: (start: Start) => number) =>
    later.map(pick).sort((one, other) => one - other)[Math.floor(later.length / 2)] ?? Number.NaN
  const worst = (pick: (start: Start) => number) => Math.max(...later.map(pick))
  const row = (name: string, pick: (start: Start) => number, budget: number) =>
    `| ${[name, pick(first), median(pick), worst(pick)].map((cell) => (typeof cell === 'number' ? Math.round(cell) : cell)).join(' | ')} | ≤ ${budget.toLocaleString('en')} |`
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, ` +
      `${files} Markdown files, a terminal of 80 columns, ${later.length} starts after the first.\n`,
    '| ms | first start | median | slowest | budget of later starts |',
    '| --- | --- | --- | --- | --- |',
    row('From the start to the first question on the screen', ({ questionMs }) => questionMs, budgets.questionMs),
    row('From Enter to the answer with its sources', ({ answerMs }) => answerMs, budgets.answerMs),
  ].join('\n')
}

import { readFile, writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'

const begun = loadavg()[0] ?? Number.NaN
const documents = join(import.meta.dirname, '../docs')
/** New sections are put before it. */
const lastSection = '## Other programs'

/** Replaces what stands between the marks of this name in a guide. Without marks, `heading` opens a new section. */
export async function writeInto(
  name: string,
  markdown: string,
  heading?: string,
  guide = 'benchmarks.md',
): Promise<void> {
  const document = join(documents, guide)
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`]
  const text = await readFile(document, 'utf8')
  const [before, after] = [text.indexOf(begin), text.indexOf(end)]
  if (before >= 0 && after > before)
    return writeFile(document, `${text.slice(0, before + begin.length)}\n${markdown}\n${text.slice(after)}`)
  const last = text.indexOf(lastSection)
  if (heading === undefined || before >= 0 || after >= 0 || last < 0) throw new Error(`${document} has lost its marks`)
  const section = `## ${heading}\n\n${begin}\n${markdown}\n${end}\n\n`
  await writeFile(document, text.slice(0, last) + section + text.slice(last))
}

/** When, on what machine, how busy with other work, and with which Node something is measured. */
export function measuredOn(cores: number, processor: string): string {
  const busy = `load average ${begun.toFixed(1)} before`
  return `Measured on ${new Date().toISOString().slice(0, 10)}: ${cores} cores (${processor}), ${busy}, Node ${process.version}.`
}

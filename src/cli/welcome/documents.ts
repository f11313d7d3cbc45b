import type { Client } from '../../client/client.ts'
import { terminalLine } from '../terminal/text.ts'

const pages = 5
const shown = 6

/** The documents of the knowledge base in one line: files by name, folders with their number; undefined when it is empty. */
export async function documentsLine({ knowledge }: Client, signal: AbortSignal): Promise<string | undefined> {
  const sources: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < pages; page++) {
    const { documents, next_cursor: next } = await knowledge.documents.list({}, { limit: 100, cursor, signal })
    sources.push(...documents.map(({ source }) => source))
    cursor = next ?? undefined
    if (cursor === undefined) break
  }
  return sources.length === 0 ? undefined : summarise(sources, cursor !== undefined)
}

/** `isMore`: there are more documents than these. */
export function summarise(sources: readonly string[], isMore: boolean): string {
  const folders = new Map<string, number>()
  const files: string[] = []
  for (const source of sources.toSorted()) {
    const folder = /^(?!\w+:)([^/]+)\//.exec(source)?.[1]
    if (folder === undefined) files.push(source)
    else folders.set(folder, (folders.get(folder) ?? 0) + 1)
  }
  const parts = [...[...folders].map(([folder, files]) => `${folder}/ (${files})`), ...files]
  const left = parts.length - shown
  const names = left > 1 ? [...parts.slice(0, shown), `${left} more`] : parts
  const count = `${isMore ? 'more than ' : ''}${sources.length} ${sources.length === 1 ? 'file' : 'files'}`
  return `Answers from ${count}: ${names.map((name) => terminalLine(name).slice(0, 80)).join(', ')}`
}

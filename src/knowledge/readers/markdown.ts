import type { Json, JsonObject } from '../../core/json.ts'
import { headingText } from '../chunkers/markdown-title.ts'
import { beforeHeading } from './part-ends.ts'
import type { TextReader } from './reader.ts'

const frontMatter = /^---[ \t]*\r?\n([\s\S]*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/
const maxFrontMatter = 65_536
/** The imports at the beginning of an MDX page. */
const moduleLines = /^(?:import\s(?:[^'"]*?\sfrom\s*)?['"][^'"\n]+['"];?[ \t\r]*(?:\n|$)|[ \t\r]*\n)+/

/** The text with its front matter, so that line numbers are the file's; front matter is not chunked. */
export const markdownReader: TextReader = {
  name: 'markdown',
  mediaTypes: ['text/markdown', 'text/x-markdown', 'text/mdx'],
  extensions: ['.md', '.markdown', '.mdx', '.mdown'],
  partEnd: beforeHeading,
  async read(text, name, before) {
    if (before) return { text, start: 0, metadata: {}, chunker: 'markdown' }
    const match = text.startsWith('---') ? frontMatter.exec(text.slice(0, maxFrontMatter)) : null
    const matter = match ? match[0].length : 0
    const start =
      matter + (name?.toLowerCase().endsWith('.mdx') ? (moduleLines.exec(text.slice(matter))?.[0].length ?? 0) : 0)
    const metadata: JsonObject = match ? { front_matter: await parseFrontMatter(match[1] ?? '') } : {}
    const heading = /^#[ \t]+(\S.*)$/m.exec(text.slice(start, start + 20_000))?.[1]
    const title = titleIn(metadata.front_matter) ?? (heading && headingText(heading))
    if (title !== undefined) metadata.title = title
    return { text, start, metadata, chunker: 'markdown' }
  },
}

async function parseFrontMatter(source: string): Promise<Json> {
  const { parse } = await import('yaml')
  try {
    return JSON.parse(JSON.stringify(parse(source, { maxAliasCount: 20 }) ?? null)) as Json
  } catch {
    return source
  }
}

function titleIn(value: Json | undefined): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const title = Object.hasOwn(value, 'title') ? value.title : undefined
  return typeof title === 'string' ? title : undefined
}

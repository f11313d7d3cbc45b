import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './program.ts'

/** A fenced block of a document. */
export interface Block {
  /** `docs/agents.md:14`, where it begins. */
  place: string
  language: string
  text: string
  /** What follows it in the document. */
  after: string
}

/** README.md and the pages of docs/ by path, as they are read by users. */
export const guides: ReadonlyMap<string, string> = await readAll([
  'README.md',
  ...(await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
])

export const blocks: readonly Block[] = [...guides].flatMap(([name, text]) => findBlocks(name, text))

/** Programs that call a server by a protocol: protocol-guides.test.ts runs them. */
export function isProtocolProgram({ language, place, text }: Block): boolean {
  return (
    language === 'ts' && /^docs\/(?:openai|mcp-server|ag-ui)\.md:/.test(place) && !/defineConfig|@copilotkit/.test(text)
  )
}

/** Documents by path, which is relative to the repository. */
export async function readAll(names: readonly string[]): Promise<Map<string, string>> {
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(root, name), 'utf8')] as const)),
  )
}

export function findBlocks(name: string, text: string): Block[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map((match) => ({
    place: `${name}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] ?? '',
    text: match[2] ?? '',
    after: text.slice(match.index + match[0].length),
  }))
}

/** The commands of a block, each over as many lines as its quotes and backslashes take, without comments. */
export function commandsOf(text: string): string[] {
  return [...text.matchAll(/^(?:'[^']*'|"[^"]*"|\\\n|[^'"\n\\#])+/gm)].map(([line]) => line.trim())
}

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readArchive } from './archives.ts'
import { archiveOf, readSources, type Source } from './sources.ts'

// Writes ATTRIBUTION.md: whose documentation taught the table of the embedder 'static', under which licences.
// usage: node scripts/embedding/attribution.ts --cache FOLDER
const { values: options } = parseArgs({ options: { cache: { type: 'string' } } })
if (options.cache === undefined) throw new Error('--cache names the folder that scripts/embedding/fetch.ts has filled')

const longest = 120
const rows: string[] = []
for (const source of (await readSources()).filter(({ isHeldBack }) => !isHeldBack)) {
  const holder = await holderOf(source, await archiveOf(source, options.cache))
  rows.push(`| ${source.name} | ${source.version} | ${source.licence} | ${holder} |`)
}
const text = `# Attribution

The embedder \`static\` of agentserve has a table of word vectors, \`dist/static-table.bin\`. The table was trained on the documentation in
the packages below, and holds none of their texts: for each of 29,000 words and pieces of words it has 128 small numbers. The
packages are named here with their versions, their licences and their copyright holders, as the packages state them.

Only documentation was read. A file that names the GPL, LGPL, AGPL, GFDL or a share-alike licence of Creative Commons was left out,
whatever the licence of its package. The data of caniuse-db is by the contributors of caniuse.com, CC BY 4.0; it was changed into
numbers as said above.

| Package | Version | Licence | Copyright |
|---|---|---|---|
${rows.join('\n')}
`
await writeFile(join(import.meta.dirname, '../../ATTRIBUTION.md'), text)

async function holderOf({ kind }: Source, archive: string): Promise<string> {
  const isPaper = archive.endsWith('.deb')
    ? (path: string) => /^usr\/share\/doc\/[^/]+\/copyright$/.test(path)
    : (path: string) => /^package\/(LICEN[CS]E[^/]*|package\.json|dict\/LICENSE)$/i.test(path)
  const papers = (await readArchive(archive, isPaper)).map(({ bytes }) => bytes.toString('utf8'))
  const whole = papers.join('\n')
  const stanza = /^Files:\s*\*\s*\n(?:.*\n)*?Copyright:\s*((?:.*\n)(?:[ \t]+.*\n)*)/m.exec(whole)?.[1]
  const line =
    /^.*copyright[^\n]*\b(?:19|20)\d\d\b.*$/im.exec(whole)?.[0] ?? (kind === 'deb' ? undefined : authorOf(whole))
  const found = (stanza ?? line ?? 'see the package').trim().split('\n')
  const first = (found[0] ?? '')
    .replace(/\S+@\S+|\s+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/[|<>*#]/g, ' ')
    .trim()
  return `${first.slice(0, longest).trim()}${found.length > 1 || first.length > longest ? ' and others' : ''}`
}

function authorOf(text: string): string | undefined {
  return /"author":\s*(?:"([^"]+)"|\{[^}]*"name":\s*"([^"]+)")/.exec(text)?.slice(1).find(Boolean)
}

import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { defineAll } from '../../src/cli/define-all.ts'
import { findBlocks, guides, readAll } from '../support/guides.ts'
import { root } from '../support/program.ts'

const papers = await readAll([
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'packages/create-agentserve/README.md',
])
const documents = new Map([...guides, ...papers])

interface Link {
  from: string
  /** Of the repository; without the anchor. */
  path: string
  anchor: string | undefined
}

const links = [...documents].flatMap(([from, text]) =>
  [...withoutCode(text).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(([, path = '', anchor]) => ({
    from,
    path: path === '' ? from : normalize(join(dirname(from), path)),
    anchor,
  })),
)

function withoutCode(text: string): string {
  return findBlocks('', text)
    .reduce((rest, block) => rest.replace(block.text, ''), text)
    .replace(/`[^`\n]*`/g, (code) => (code.includes('](') ? '' : code))
}

/** As GitHub makes anchors of headings. */
function anchorsOf(path: string): string[] {
  const text = withoutCode(documents.get(path) ?? '')
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every link leads to a file that is there, and to a heading of it', () => {
  expect(links.length).toBeGreaterThan(80)
  expect(links.filter(({ path }) => !existsSync(join(root, path)))).toEqual([])
  const anchored = links.filter((link): link is Link & { anchor: string } => link.anchor !== undefined)
  expect(anchored.filter(({ path, anchor }) => !anchorsOf(path).includes(anchor))).toEqual([])
})

test('every file and folder that CONTRIBUTING.md names is there', () => {
  const text = documents.get('CONTRIBUTING.md') ?? ''
  const named = [...text.matchAll(/`((?:src|test|docs|scripts|bench|packages)\/[\w./-]*)`|\b(docs\/[\w-]+\.md)\b/g)]
  const paths = named.map(([, quoted, bare]) => quoted ?? bare ?? '')
  expect(paths.length).toBeGreaterThan(30)
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('README leads to every page of docs, and getting started to each that a user needs next', () => {
  const from = (page: string) => links.filter((link) => link.from === page).map(({ path }) => path)
  const pages = [...guides.keys()].filter((page) => page !== 'README.md')
  expect(pages.filter((page) => !from('README.md').includes(page))).toEqual([])
  const next = pages.filter((page) => !/getting-started|benchmarks/.test(page))
  expect(next.filter((page) => !from('docs/getting-started.md').includes(page))).toEqual([])
})

test('the index of docs leads to every page of it', () => {
  const named = links.filter(({ from }) => from === 'docs/README.md').map(({ path }) => path)
  const pages = [...guides.keys()].filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
  expect(pages.filter((page) => !named.includes(page))).toEqual([])
})

test('README is short enough to be read', () => {
  expect(documents.get('README.md')?.split('\n').length).toBeLessThanOrEqual(150)
})

test('README and docs tell of everything that the changelog names', () => {
  const told = [...guides.values()].join('\n')
  const spans = [...(documents.get('CHANGELOG.md') ?? '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
  expect(spans.length).toBeGreaterThan(40)
  // Of `agentserve ingest <paths>` the command counts, of `approve(…)` what is before the parentheses, of `createServer(…).handle`
  // what is after them, of a route its path.
  const names = spans.map((span) =>
    span
      .replace(/^(?:agentserve|[A-Z]+) (\S+).*/, '$1')
      .replace(/\(.*\)$/, '')
      .replace(/^.*\)\./, ''),
  )
  expect(names.filter((name) => !told.includes(name))).toEqual([])
})

test('every command and flag that a text names is there', async () => {
  const flags = new Map((await defineAll()).map((command) => [command.name(), command.options.map(({ long }) => long)]))
  const spans = [...documents].flatMap(([name, text]) =>
    [...withoutCode(text).matchAll(/`(?:npx )?agentserve ([a-z][^`]*)`/g)].map(([, line = '']) => ({ name, line })),
  )
  expect(spans.length).toBeGreaterThan(30)
  const wrong = spans.filter(({ line }) => {
    const [name = '', ...words] = line.replace(/ \| .*/, '').split(/[ \n)]/)
    const known = ['help', ...commands.map((command) => command.name)].includes(name)
    return (
      !known || words.some((word) => word.startsWith('--') && word !== '--help' && !flags.get(name)?.includes(word))
    )
  })
  expect(wrong).toEqual([])
})

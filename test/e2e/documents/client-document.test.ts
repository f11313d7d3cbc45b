import { expect, test } from 'vitest'
import { clientDocument } from '../../../scripts/client-document.ts'

test('docs/client.md is what the source says', { timeout: 120_000 }, async () => {
  const document = await clientDocument()
  await expect(`${document}\n`).toMatchFileSnapshot('../../../docs/client.md')
  // Every type that a signature names can be looked up.
  const headings = new Set([...document.matchAll(/^### (\w+)$/gm)].map(([, name]) => name))
  const signatures = [...document.matchAll(/^- `((?:[^`\\]|\\.)*)`/gm)].map(([, text = '']) =>
    text.replace(/'[^']*'|\/\*.*?\*\//g, ''),
  )
  const named = new Set(signatures.flatMap((text) => text.match(/\b[A-Z]\w+/g) ?? []))
  expect([...named].filter((name) => !headings.has(name)).sort()).toEqual(builtIn)
})

const builtIn = [
  'AbortSignal',
  'AsyncIterable',
  'AsyncIterableIterator',
  'Blob',
  'Omit',
  'Promise',
  'Readonly',
  'Record',
  'Uint8Array',
]

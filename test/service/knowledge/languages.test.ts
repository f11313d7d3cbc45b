import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { findQuotes } from '../../../src/models/quote.ts'

const folder = join(import.meta.dirname, '..', '..', 'fixtures', 'languages')
const stemming = '../../../src/core/text/stem.ts'

/** A question, and the beginning of the heading over its answer. */
const asked: Record<string, [question: string, heading: string][]> = {
  'bibliothek.md': [
    ['Wann ist die Bibliothek geöffnet?', 'Öffnungszeiten'],
    ['Wie lange darf ich ein Buch ausleihen?', 'Ausleihen'],
    ['Was kostet der Ausweis?', 'Gebühren'],
    ['Was passiert, wenn ich ein Buch verliere?', 'Beschädigte'],
    ['Wo gibt es Arbeitsplätze mit Steckdose?', 'Arbeitsplätze'],
    ['Wie reserviere ich einen Gruppenraum?', 'Arbeitsplätze'],
    ['Was kostet eine Kopie in Farbe?', 'Drucken'],
  ],
  'refuge.md': [
    ['Quand le refuge est-il ouvert ?', 'Horaires'],
    ['Comment réserver une place ?', 'Réservation'],
    ['Combien coûte une nuit ?', 'Tarifs'],
    ['Puis-je payer par carte bancaire ?', 'Paiement'],
    ['Quel matériel faut-il apporter ?', 'Matériel'],
    ['Les chiens sont-ils admis ?', 'Animaux'],
    ['Où est affichée la météo ?', 'Météo'],
  ],
}

afterEach(() => {
  vi.doUnmock(stemming)
  vi.resetModules()
})

/** The ranks of the answers, and how many were quoted. */
async function ask(file: string) {
  vi.resetModules()
  const { knowledgeFolder } = await import('../../support/knowledge/folder.ts')
  const place = await knowledgeFolder()
  try {
    const knowledge = await place.open()
    await knowledge.ingest({ content: await readFile(join(folder, file)), name: file })
    const ranks: number[] = []
    let quoted = 0
    for (const [query, heading] of asked[file] ?? []) {
      const { results } = await knowledge.search({ query, mode: 'keyword' })
      const isUnder = (metadata: { heading_path?: unknown }) =>
        JSON.stringify(metadata.heading_path).includes(`"${heading}`)
      ranks.push(results.findIndex(({ metadata }) => isUnder(metadata)) + 1)
      const hybrid = await knowledge.search({ query, trace: true })
      const { quotes } = await findQuotes(query, hybrid.results, { fit: hybrid.trace?.fit })
      if (quotes.some(({ hit }) => isUnder(hit.metadata))) quoted++
    }
    return { ranks, quoted }
  } finally {
    await place.remove()
  }
}

test.each([
  ['German', 'bibliothek.md', 5],
  ['French', 'refuge.md', 6],
])('%s documents are found and quoted, no worse than without English stems', async (_, file, least) => {
  const { ranks, quoted } = await ask(file)
  expect(ranks).not.toContain(0)
  expect(quoted).toBeGreaterThanOrEqual(least)
  const stemOf = vi.fn((word: string) => word)
  vi.doMock(stemming, () => ({
    stemOf,
    beginningOf: (stem: string) => stem,
    longestEnding: 0,
  }))
  const plain = await ask(file)
  expect(stemOf).toHaveBeenCalled()
  for (const [at, rank] of plain.ranks.entries()) expect(ranks[at]).toBeLessThanOrEqual(rank || 7)
  expect(quoted).toBeGreaterThanOrEqual(plain.quoted)
})

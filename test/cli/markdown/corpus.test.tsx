import { Box, renderToString, Static } from 'ink'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { Said } from '../../../src/cli/chat/said.tsx'
import type { Entry } from '../../../src/cli/chat/screen-state.ts'
import { paintFor } from '../../../src/cli/terminal/paint.ts'
import { BlockSplitter } from '../../../src/core/markdown/blocks.ts'
import { generateAnswers } from '../../support/markdown/generated.ts'
import { differs } from '../../support/markdown/same-text.ts'
import { written } from '../../support/markdown/written.ts'

const paint = paintFor({}, {})
const corpus = [...written, ...generateAnswers(90, 23)]

/** As chat shows what was typed, and then the answer as it streams. */
function entriesOf(markdown: string): Entry[] {
  const text = markdown.replaceAll('\t', '    ')
  const splitter = new BlockSplitter()
  const blocks = (text.match(/[\s\S]{1,17}/g) ?? []).flatMap((piece) => splitter.push(piece))
  const answer = [...blocks, ...splitter.end()].map((block, id) => ({ ...block, id, kind: 'markdown' as const }))
  return [{ id: -1, kind: 'user', text, joined: false }, ...answer]
}

/** The lines that chat commits. */
function commit(entries: readonly Entry[], columns: number): string[] {
  const drawn = (
    <Box flexDirection="column">
      <Static items={[...entries]}>{(entry) => <Said key={entry.id} {...{ entry, columns, paint }} />}</Static>
    </Box>
  )
  return renderToString(drawn, { columns }).split('\n')
}

const widths = new Map<string, number>()

/** On the terminal that gives each character the most room. */
function widthOf(line: string): number {
  let apart = 0
  for (const character of line) {
    const width = widths.get(character) ?? stringWidth(character)
    widths.set(character, width)
    apart += width
  }
  return apart <= line.length && /^[ -~]*$/.test(line) ? apart : Math.max(apart, stringWidth(line))
}

describe.each([40, 80, 120])('chat at %d columns', (columns) => {
  it('commits each character of 200 answers and questions once, on lines that fit', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(200)
    const wrong: string[] = []
    for (const { name, markdown, shows } of corpus) {
      const lines = commit(entriesOf(markdown), columns)
      const faults = shows.map((text) => differs(lines, `> ${markdown} ${text}`))
      if (!faults.includes(undefined)) wrong.push(`${name}: ${faults.join('\n')}`)
      for (const line of lines) if (widthOf(line) > columns) wrong.push(`${name}: too wide: ${line}`)
    }
    expect(wrong).toEqual([])
  }, 120_000)
})

describe('the comparison of the screen with the text', () => {
  it.each([
    ['a lost letter', ['a lng', 'word'], 'a character differs'],
    ['letters that are there twice', ['a long', 'long word'], 'a character differs'],
    ['two words that are one', ['a longword'], 'two words are one'],
    ['a word that is two', ['a lo ng word'], 'a word is two'],
    ['more than the text', ['a long word', 'x'], 'there is more'],
    ['nothing', [], 'a character differs'],
  ])('finds %s', (_, lines, fault) => {
    expect(differs(lines, 'a long word')).toContain(fault)
  })

  it('takes a broken word and borders for what they are', () => {
    expect(differs(['│ a lo', '│ ng', '│ word'], 'a long word')).toBeUndefined()
  })
})

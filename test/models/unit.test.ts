import { describe, expect, it } from 'vitest'
import { findQuotes } from '../../src/models/quote.ts'
import { hit } from '../runnables/fixture.ts'

async function quoted(question: string, content: string, source = 'guide.md') {
  const { quotes } = await findQuotes(question, [hit(content, { source }), hit('Water flows.', { source: 'other.md' })])
  for (const { text, line } of quotes) {
    expect(content).toContain(text)
    expect(content.split('\n')[(line ?? 0) - 1]).toContain(text.split('\n')[0])
  }
  return quotes[0]
}

const firewall = `# Network

The proxy needs the network, like all of its friends.

Open the following ports of the firewall:

- 443 for browsers
- 8080 for the API

  Only inside the company.

Nothing else is needed. Ask us when in doubt.
`

describe('a quote is whole', () => {
  it('a lead-in has its list, with what stands under its items', async () => {
    const quote = await quoted('Which ports of the firewall must be open?', firewall)
    expect(quote?.text).toBe(
      'Open the following ports of the firewall:\n\n- 443 for browsers\n- 8080 for the API\n\n  Only inside the company.',
    )
    expect(quote?.line).toBe(5)
  })

  it('an item has its list, when a lead-in stands above', async () => {
    expect((await quoted('What is 8080 of the API for?', firewall))?.text).toMatch(/^Open the following.*company\.$/s)
  })

  it.each([
    [
      'fenced',
      'Restart the harbour service so:\n\n```sh\nharbour restart\n\nharbour status\n```\n',
      'harbour status\n```',
    ],
    ['indented', 'Restart the harbour service so:\n\n    harbour restart\n\n    harbour status\n', 'harbour status'],
    ['literal', 'Restart the harbour service::\n\n  harbour restart\n\nMore.\n', 'harbour restart'],
  ])('a lead-in has its code: %s', async (_kind, content, end) => {
    const quote = await quoted('How do I restart the harbour service?', content, 'guide.rst')
    expect(quote?.text.startsWith('Restart')).toBe(true)
    expect(quote?.text.endsWith(end)).toBe(true)
  })

  it('a lead-in to a list that is too long to be quoted has the items that fit', async () => {
    const items = Array.from({ length: 60 }, (_, at) => `- the port ${at} of the firewall, for reasons`)
    const quote = await quoted('Which ports of the firewall must be open?', `Open the ports:\n\n${items.join('\n')}\n`)
    expect(quote?.text.length).toBeLessThanOrEqual(1_200)
    expect(quote?.text.endsWith('reasons')).toBe(true)
  })

  it('a row far down has the head of its table above it, and its own line', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => `| E${100 + at} | reason number ${at} of many |`)
    const table = `# Codes\n\n| Code | Meaning |\n|---|---|\n${rows.join('\n')}\n`
    const quote = await quoted('What does code E137 mean?', table)
    expect(quote?.text).toBe('| E137 | reason number 37 of many |')
    expect(quote?.shown).toBe('| Code | Meaning |\n|---|---|\n| E137 | reason number 37 of many |')
    expect(quote?.line).toBe(42)
  })

  it('a paragraph is quoted to its end, a very long one by its sentences', async () => {
    const rest = 'It is a good habit. Somebody else may need the lamp. So it was always done.'
    expect((await quoted('When is the lamp lit?', `The lamp is lit at dusk. ${rest}\n`))?.text).toContain(
      'always done.',
    )
    const long = `${'Much was said about the weather. '.repeat(40)}The lamp is lit at dusk.`
    expect((await quoted('When is the lamp lit?', long))?.text).toMatch(
      /^(?:Much was said about the weather\. )?The lamp is lit at dusk\.$/,
    )
  })

  it('a row of a grid table of reStructuredText has the head of its table', async () => {
    const line = (mark: string) => `+${mark.repeat(6)}+${mark.repeat(40)}+\n`
    const row = (code: string, meaning: string) => `| ${code} | ${meaning.padEnd(38)} |\n`
    const rows = Array.from(
      { length: 20 },
      (_, at) => `${row(`E${100 + at}`, `reason number ${at} of many`)}${line('-')}`,
    )
    const table = (count: number) => `${line('-')}${row('Code', 'Meaning')}${line('=')}${rows.slice(0, count).join('')}`
    const few = await quoted('What does code E102 mean?', table(4), 'codes.rst')
    expect(few?.shown.split('\n').map((each) => each.replace(/ +\|$/, ' |'))).toEqual([
      '| Code | Meaning |',
      '|---|---|',
      ...[0, 1, 2, 3].map((at) => `| E${100 + at} | reason number ${at} of many |`),
    ])
    const many = await quoted('What does code E117 mean?', table(20), 'codes.rst')
    expect(many?.text).toBe(row('E117', 'reason number 17 of many').trim())
    expect(many?.shown).toMatch(/^\| Code \| Meaning +\|\n\|---\|---\|\n\| E117 \| reason number 17 of many +\|$/)
  })

  it('a row whose table begins in an earlier chunk has the columns that its chunk names', async () => {
    const rows = Array.from(
      { length: 40 },
      (_, at) => `| \`lamp${at}\` | ${at} | how far the lamp number ${at} shines |`,
    )
    const content = `${rows.join('\n')}\n`
    const metadata = { heading_path: ['Lamps', 'Setting | Default | Meaning'] }
    const { quotes } = await findQuotes('What is lamp37?', [hit(content, { metadata }), hit('Water flows.', {})])
    expect(quotes[0]?.text).toBe(rows[37])
    expect(quotes[0]?.shown).toBe(`| Setting | Default | Meaning |\n|---|---|---|\n${rows[37]}`)
    const short = `${rows.slice(7, 9).join('\n')}\n`
    const few = await findQuotes('What is lamp7?', [hit(short, { metadata }), hit('Water flows.', {})])
    expect(few.quotes[0]?.shown).toBe(`| Setting | Default | Meaning |\n|---|---|---|\n${short.trimEnd()}`)
  })

  it('the text under the heading that was asked for is quoted, without anchors', async () => {
    const content =
      '## Closing the valve\n\n<a id="valve"></a>\nTurn it to the left.\n\n```sh\nvalve close\n```\n\n## Other\n\nMore.\n'
    const quote = await quoted('How do I close the valve?', content)
    expect(quote?.text).toBe('Turn it to the left.\n\n```sh\nvalve close\n```')
  })

  it('a chunk that begins in code has its fences the right way round', async () => {
    const content =
      'lamp.light()\n```\n\nThe lamp of the tower is lit at dusk.\n\n```js\nlamp.dim()\n```\n\n```js\nlamp.off()\n'
    expect((await quoted('When is the lamp of the tower lit?', content))?.text).toBe(
      'The lamp of the tower is lit at dusk.',
    )
    const closed = content.replace(/```js\nlamp.off\(\)\n$/, '')
    expect((await quoted('When is the lamp of the tower lit?', closed))?.text).toBe(
      'The lamp of the tower is lit at dusk.',
    )
  })

  it.each(['pump.rst', 'pump.adoc'])('lines of tildes under titles begin no code: %s', async (source) => {
    const content =
      'Pumps\n=====\n\nInstalling the pump\n~~~~~~~~~~~~~~~~~~~\n\nUse the small wrench.\n\nOther pumps\n===========\n\nMore.\n'
    expect((await quoted('How is the pump installed?', content, source))?.text).toBe('Use the small wrench.')
  })

  it('no entry of a table of contents is quoted, and no comment', async () => {
    const content =
      '- [Close the valve](#close)\n- [Open](#open)\n\n<!-- close\nthe valve -->\n\nThe valve closes by itself.\n'
    expect((await quoted('How do I close the valve?', content))?.text).toBe('The valve closes by itself.')
  })

  it('what says the same is quoted once, though some of its words differ', async () => {
    const hits = [
      hit('The port of the server is set by `address` in the config.', { source: 'a.md', document_id: 'doc_a' }),
      hit('The port of our server is set by `address` in the config file.', { source: 'b.md', document_id: 'doc_b' }),
      hit('For tests the port may be set to 0, and the server takes a free one.', {
        source: 'c.md',
        document_id: 'doc_c',
      }),
    ]
    const { quotes } = await findQuotes('How is the port of the server set?', hits)
    expect(quotes.map(({ hit: { source } }) => source)).toEqual(['a.md', 'c.md'])
  })

  it('a second quote has what the first lacks of the question', async () => {
    const hits = [
      hit('Set the colour of the lantern with `--colour`.', { source: 'colour.md', document_id: 'doc_colour' }),
      hit('The lantern has a colour and weighs little.', { source: 'weight.md', document_id: 'doc_weight' }),
      hit('`--brightness` is how much the lantern shines.', { source: 'bright.md', document_id: 'doc_bright' }),
    ]
    const { quotes } = await findQuotes('How do I set the colour and brightness of the lantern?', hits)
    expect(quotes.slice(0, 2).map(({ hit: { source } }) => source)).toEqual(['colour.md', 'bright.md'])
  })
})

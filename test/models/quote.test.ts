import { describe, expect, it } from 'vitest'
import { wordsAsked } from '../../src/models/candidate.ts'
import { noModelText, offlineAnswer } from '../../src/models/offline.ts'
import { findQuotes } from '../../src/models/quote.ts'
import { hit } from '../runnables/fixture.ts'

const guide = `# Sessions

A session keeps the messages of one conversation. It is stored in SQLite, so it
survives a restart. Nothing is sent anywhere.

## Deleting

- Run \`agentserve sessions delete\` to remove one.
- Everything else stays.

\`\`\`sh
agentserve sessions list
\`\`\`
`

async function textOf(pieces: AsyncIterable<string>) {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

describe('findQuotes', () => {
  it('quotes byte for byte, with the line where the quote begins', async () => {
    const {
      quotes: [quote],
    } = await findQuotes('Does a session survive a restart?', [hit(guide, { line_start: 5 })])
    expect(guide).toContain(quote?.text)
    expect(quote?.text).toContain('SQLite, so it\nsurvives a restart.')
    expect(quote?.line).toBe(7)
  })

  it('quotes one list item, not the list', async () => {
    const {
      quotes: [quote],
    } = await findQuotes('How do I delete a session?', [hit(guide)])
    expect(quote?.text).toBe('- Run `agentserve sessions delete` to remove one.')
    expect(quote?.line).toBe(8)
  })

  it('knows the heading over a passage from the path of its chunk, whatever marks the format has', async () => {
    const under = (title: string, content: string) =>
      hit(content, { source: `${title}.rst`, metadata: { heading_path: ['Guide', title] } })
    const hits = [
      under('Delete backups', 'Delete backups\n--------------\n\nRun the purge command.\n'),
      under('Make backups', 'Make backups\n------------\n\nRun the save command.\n'),
      hit('Run it in the night.', { metadata: { heading_path: 'Delete backups' } }),
    ]
    const { quotes } = await findQuotes('How do I delete backups?', hits)
    expect(quotes.map(({ text }) => text)).toEqual(['Run the purge command.'])
    expect(quotes[0]?.line).toBe(4)
  })

  it.each([
    ['Markdown', 'Closing the valve\n=================\nTurn it to the left.\n'],
    ['reStructuredText', '=================\nClosing the valve\n=================\n\nTurn it to the left.\n'],
  ])('takes an underlined title of %s for the heading that it is', async (_format, content) => {
    const { quotes } = await findQuotes('How do I close the valve?', [hit(content), hit('Water flows.')])
    expect(quotes.map(({ text }) => text)).toEqual(['Turn it to the left.'])
  })

  it('quotes the best hits first, one passage of each, none twice', async () => {
    const hits = [
      hit('Cats sleep most of the day.', { source: 'cats.md' }),
      hit('The port is set by `address`.', { source: 'server.md' }),
      hit('The port is set by `address`.', { source: 'copy.md' }),
    ]
    expect((await findQuotes('How is the port set?', hits)).quotes.map(({ hit: { source } }) => source)).toEqual([
      'server.md',
    ])
  })

  it('never quotes an example of the question itself', async () => {
    const hits = [
      hit('```sh\nagentserve chat docs --message "How is the port set?"\n```', { source: 'example.md' }),
      hit('How is the port set?', { source: 'faq.md' }),
      hit('The port is set by `address`.', { source: 'server.md' }),
    ]
    expect((await findQuotes('How is the port set?', hits)).quotes.map(({ hit: { source } }) => source)).toEqual([
      'server.md',
    ])
  })

  it('quotes an answer, not the sentence that tells to ask this', async () => {
    const welcome =
      '# Welcome\n\nRun it and ask: how do I add documents?\n\n## Adding documents\n\nSave files under `docs/`.\n'
    const { quotes } = await findQuotes('How do I add documents?', [hit(welcome)])
    expect(quotes.map(({ text }) => text)).toEqual(['Save files under `docs/`.'])
  })

  it.each([['“Opening hours”'], ['"opening hours"'], ['„Opening hours“'], ['«Opening hours»']])(
    'quotes what is under the heading that a question names in quotation marks: %s',
    async (name) => {
      const text = '# Office\n\nThe opening of letters takes hours.\n\n## Opening hours\n\nFrom nine to five.\n'
      const { quotes } = await findQuotes(`What does ${name} say?`, [hit(text)])
      expect(quotes[0]?.text).toBe('From nine to five.')
    },
  )

  it('quotes what is under a heading that is the question: any words, links alone, long code', async () => {
    const code = [
      '```js',
      ...Array.from({ length: 40 }, (_, at) => `const valve${at} = open(pipe, ${at})`),
      '```',
    ].join('\n')
    const links = '- [valve](valve.md)\n- [pipe](pipe.md)'
    const under = (title: string, content: string) =>
      hit(`## ${title}\n\n${content}\n`, { metadata: { heading_path: ['Guide', title] } })
    for (const [title, content] of [
      ['Use it from', 'Any phone will do.'],
      ['Parts and their makers', links],
      ['Open all valves', code],
    ] as const) {
      const hits = [
        under(title, content),
        hit('Parts wear out. Valves of other makers are open, and all their parts too.'),
      ]
      expect((await findQuotes(title, hits)).quotes[0]?.text, title).toBe(content)
    }
    expect((await findQuotes('Which parts have makers?', [under('See also', links)])).quotes).toEqual([])
  })

  it('quotes a row of a table with its head, never the head alone', async () => {
    const table = '## Exit codes\n\n| Exit code | Meaning |\n|---|---|\n| 1 | it failed |\n| 2 | called wrongly |\n'
    expect((await findQuotes('What does exit code 2 mean?', [hit(table)])).quotes[0]?.text).toBe(
      '| Exit code | Meaning |\n|---|---|\n| 1 | it failed |\n| 2 | called wrongly |',
    )
  })

  it('quotes the table whose row begins with the asked name, not the table above nor a list of names', async () => {
    const tables =
      '## Cutting\n\n| Setting | Default |\n|---|---|\n| `cutter` | knife |\n\n' +
      '| Cutter | How it cuts |\n|---|---|\n| `knife` | along the line |\n| `saw` | across |\n'
    const names = hit("- `cutter: 'knife' | 'saw' | 'laser'`", { source: 'types.md' })
    const { quotes } = await findQuotes('What does the saw cutter do?', [hit(tables), names])
    expect(quotes[0]?.text).toBe(
      '| Cutter | How it cuts |\n|---|---|\n| `knife` | along the line |\n| `saw` | across |',
    )
    expect(quotes[0]?.line).toBe(7)
  })

  it('takes a word that the collection has as it is, and another spelling only for one that it lacks', () => {
    const words = [
      { word: 'times', chunks: 4, weight: 3, as: 'timeout' },
      { word: 'pmup', chunks: 0, weight: 1, as: 'pump' },
      { word: 'start', chunks: 0, weight: 2 },
    ]
    const fit = { score: 1, threshold: 0.5, coverage: 1, chunks: 20, words }
    expect(wordsAsked('How many times does the pmup start?', [], fit)).toEqual([
      ['times', 3],
      ['pump', 1],
      ['start', 2],
    ])
  })

  it('quotes no sentence that only says where else to look', async () => {
    const hits = ['See [`pool.close(options)`][].', 'See also [Options of pools](pools.md).'].map((text) => hit(text))
    expect((await findQuotes('Which options does a pool have?', hits)).quotes).toEqual([])
    const more = hit('See [Pools](pools.md) for options of a pool that is closed early, which are few.')
    expect((await findQuotes('Which options does a pool have?', [...hits, more])).quotes).toMatchObject([{ hit: more }])
  })

  it('quotes nothing that has one of the two words of a question where something has both', async () => {
    const answer = hit('Set the port with `--port`.', { source: 'cli.md' })
    const table = '| `address` | host and port |\n| `allowMethods` | once origins are set |'
    const row = hit(table, { source: 'settings.md' })
    const others = ['Port 80 needs root.', 'Port 0 picks one.', 'No port is free.'].map((text) => hit(text))
    const sources = async (hits: Parameters<typeof findQuotes>[1]) =>
      (await findQuotes('How do I set the port?', hits)).quotes.map(({ hit: { source } }) => source)
    expect(await sources([row, answer, ...others])).toEqual(['cli.md'])
    expect(await sources([row, ...others])).toContain('settings.md')
  })

  it('keeps quotes short', async () => {
    const long = `${'The weather was fine and nobody complained about anything at all. '.repeat(20)}The port is 8080. ${'More text follows here. '.repeat(30)}`
    const {
      quotes: [quote],
    } = await findQuotes('Which port?', [hit(long)])
    expect(quote?.text).toContain('The port is 8080.')
    expect(quote?.text.length).toBeLessThanOrEqual(400)
  })

  it('finds nothing where nothing fits', async () => {
    const { quotes, abstained } = await findQuotes('Who won the world cup?', [hit(guide)])
    expect(quotes).toEqual([])
    expect(abstained).toEqual({ reason: expect.stringContaining('No passage'), score: 0, threshold: 0.4 })
    expect(await findQuotes('what is the', [hit(guide)])).toMatchObject({ quotes: [], abstained: { score: 0 } })
    expect(await findQuotes('', [])).toEqual({ quotes: [] })
  })

  it('says how near the best passage was when it does not fit', async () => {
    const question = 'Which session number did the lighthouse keeper burn in the harbour yesterday evening?'
    const { quotes, abstained } = await findQuotes(question, [
      hit('The session number is in the log.'),
      hit('Water flows.'),
    ])
    expect(quotes).toEqual([])
    expect(abstained).toMatchObject({ reason: expect.stringContaining('best passage'), threshold: 0.4 })
    expect(abstained?.score).toBeGreaterThan(0)
    expect(abstained?.score).toBeLessThan(0.4)
  })

  it('works in other languages', async () => {
    const hits = [hit('Der Server hört auf Port 8080.\n\nKatzen schlafen viel.'), hit('服务器监听端口 8080。')]
    expect((await findQuotes('Auf welchem Port hört der Server?', hits)).quotes[0]?.text).toBe(
      'Der Server hört auf Port 8080.',
    )
    expect((await findQuotes('服务器端口', hits)).quotes[0]?.text).toBe('服务器监听端口 8080。')
  })
})

describe('offlineAnswer', () => {
  it('says that it quotes and names each place', async () => {
    const quotes = [
      { hit: hit('A', { source: 'a.md' }), text: 'One  two.', shown: 'One  two.', line: 4 },
      { hit: hit('B', { source: 'b.pdf', page: 2 }), text: 'Three.', shown: 'Three.', line: undefined },
    ]
    expect(await textOf(offlineAnswer(quotes))).toBe(
      'No model is configured, so I quote what the knowledge base says.\n\nOne  two.\n[1] a.md:4\n\nThree.\n[2] b.pdf, page 2\n',
    )
  })

  it('says so when nothing fits, and how to set a model when there is nothing to search', async () => {
    expect(await textOf(offlineAnswer([]))).toContain('nothing in it fits')
    expect(noModelText).toContain('model:')
  })
})

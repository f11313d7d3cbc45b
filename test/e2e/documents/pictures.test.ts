import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { terminalPictures } from '../../../scripts/pictures/scenes.ts'
import type { Piece } from '../../../scripts/pictures/screen.ts'
import { toSvg } from '../../../scripts/pictures/svg.ts'
import { root } from '../../support/program.ts'

const folder = join(root, 'docs/pictures')
const files = (await readdir(folder)).sort()

test('the pictures of the terminal show what the program prints now: npm run pictures makes them again', async () => {
  const made = await terminalPictures()
  expect(Object.keys(made).sort()).toEqual(files.filter((name) => name.endsWith('.svg')))
  for (const [name, svg] of Object.entries(made)) expect(await readFile(join(folder, name), 'utf8'), name).toBe(svg)
}, 120_000)

test('a picture that moves begins with its last frame, which shows the most', async () => {
  const screen = (text: string) => [[{ column: 0, text, width: text.length, style: {} }]]
  const svg = toSvg(
    [
      { screen: screen('empty'), seconds: 1 },
      { screen: screen('half'), seconds: 1 },
      { screen: screen('answer'), seconds: 2 },
    ],
    'x',
    20,
  )
  const keys = [...svg.matchAll(/@keyframes f(\d)\{(.*?\})\}/g)].map(([, index, steps]) => [index, steps])
  expect(keys).toEqual([
    ['0', '0%{visibility:hidden}50%{visibility:visible}75%{visibility:hidden}'],
    ['1', '0%{visibility:hidden}75%{visibility:visible}'],
    ['2', '0%{visibility:visible}50%{visibility:hidden}'],
  ])
})

test('every picture is shown in a document, and none is larger than 200 KB', async () => {
  const guides = (await readdir(join(root, 'docs')))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  const texts = await Promise.all(['README.md', ...guides].map((name) => readFile(join(root, name), 'utf8')))
  expect(files.filter((name) => !texts.some((text) => text.includes(`pictures/${name})`)))).toEqual([])
  for (const name of files) expect((await readFile(join(folder, name))).length, name).toBeLessThan(200_000)
})

test('a picture has the text alone of what a program prints', () => {
  const draw = (...row: Piece[]) => toSvg([{ screen: [row], seconds: 1 }], '<title> & more', 80)
  const style = {}
  const hostile = draw({ column: 0, text: '</text><script>&\u0000\u001b', width: 18, style })
  expect(hostile).toContain('>&lt;/text&gt;&lt;script&gt;&amp;')
  expect(hostile).toContain('<title>&lt;title&gt; &amp; more</title>')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  expect(hostile).not.toMatch(/<script|[\x00-\x08\x0b-\x1f]/)
  const table = draw({ column: 0, text: 'a  b', width: 4, style })
  expect(table).toContain('x="16" y="63" textLength="8.4"')
  expect(table).toContain('x="41.2" y="63" textLength="8.4"')
  const wide = draw({ column: 1, text: '日 本', width: 5, style })
  expect(wide).toContain('x="24.4" y="63" textLength="42"')
})

import { expect, it } from 'vitest'
import { saidAsMarkdown, saidIn } from '../../../src/cli/terminal/message-text.ts'
import type { Part } from '../../../src/core/message.ts'

const text = (words: string): Part => ({ type: 'text', text: words })
const data: Part = { type: 'data', data: { a: [1] } }
const json = '{\n  "a": [\n    1\n  ]\n}'

it.each<[Part[], string, string]>([
  [[], '', ''],
  [[text('a'), text('b')], 'ab', 'ab'],
  [[data], json, `\`\`\`json\n${json}\n\`\`\`\n`],
  [[text('before'), data, text('after')], `before\n${json}\nafter`, `before\n\n\`\`\`json\n${json}\n\`\`\`\nafter`],
  [[data, data], `${json}\n${json}`, `\`\`\`json\n${json}\n\`\`\`\n\n\`\`\`json\n${json}\n\`\`\`\n`],
])('says %j', (parts, plain, markdown) => {
  expect(saidIn(parts)).toBe(plain)
  expect(saidAsMarkdown(parts)).toBe(markdown)
})

const file = (more: object): Part => ({ type: 'file', media_type: 'image/png', ...more })

it.each<[Part[], string, string]>([
  [[file({ name: 'a.png', size: 2048 })], '[a.png, image/png, 2 KB]', '\\[a.png, image/png, 2 KB\\]'],
  [
    [file({}), file({ url: 'https://x.y/z' })],
    '[image/png]\n[https://x.y/z, image/png]',
    '\\[image/png\\]\n\\[https://x.y/z, image/png\\]',
  ],
  [[text('See'), file({ name: 'a' }), text('it')], 'See\n[a, image/png]\nit', 'See\n\\[a, image/png\\]\nit'],
  [
    [file({ name: '\u001b]0;owned\u0007\u202ea\nb](http://evil)' })],
    '[a b](http://evil), image/png]',
    '\\[a b\\]\\(http://evil\\), image/png\\]',
  ],
  [[file({ name: 'x'.repeat(255) })], `[${'x'.repeat(119)}…, image/png]`, `\\[${'x'.repeat(119)}…, image/png\\]`],
])('shows the files of %j in one line each', (parts, plain, markdown) => {
  expect(saidIn(parts)).toBe(plain)
  expect(saidAsMarkdown(parts)).toBe(markdown)
})

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

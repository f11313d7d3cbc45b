import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type KeyRow, keyGroups } from '../../src/studio/state/keys/key-table.ts'

test('the guide has every key of the studio, as the page tells them', () => {
  const rows = Object.entries<Record<string, KeyRow>>(keyGroups).flatMap(([where, keys]) =>
    Object.values(keys).map(([does, ...alternatives]) => {
      return `| ${where} | ${alternatives.map((key) => `\`${key}\``).join(', ')} | ${does} |`
    }),
  )
  const guide = readFileSync(new URL('../../docs/studio.md', import.meta.url), 'utf8')
  const written = guide.split('\n').filter((line) => /^\| (?:Everywhere|In |At )/.test(line))
  expect(written).toEqual(rows)
})

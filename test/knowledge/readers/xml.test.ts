import { expect, test } from 'vitest'
import { parseXml } from '../../../src/knowledge/readers/markup/xml.ts'

test('a name is what follows the prefix, and colons before it are not of its prefix', () => {
  const { name, children } = parseXml('<w:p a:b="c:d">x:y<v/><o:q:r></o:q:r></w:p>')
  expect([name, children]).toMatchObject(['p', ['x:y', { name: 'v' }, { name: 'r' }]])
})

test('2 MB of elements without a prefix are read at once, not looked through again for each', () => {
  const xml = `<sheet>${'<c>1</c>'.repeat(250_000)}</sheet>`
  const begun = performance.now()
  expect(parseXml(xml).children.length).toBe(250_000)
  // Looked through again, they take two minutes.
  expect(performance.now() - begun).toBeLessThan(10_000)
})

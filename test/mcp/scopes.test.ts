import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toolsOf } from '../../src/mcp/tools.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8')

test('docs/security.md says which scope each tool needs', () => {
  const rows = [...guide.matchAll(/^\| (`(?:search|ask_…|get_run)`.*) \| `([\w:]+)` \|$/gm)]
  const told = rows.flatMap(([, tools = '', scope]) =>
    [...tools.matchAll(/`([a-z_…]+)`/g)].map(([, tool]) => [tool, scope] as const),
  )
  const entities = [{ id: 'docs', name: null, description: null }]
  const many = Array.from({ length: 17 }, (_, index) => ({ id: `${index}`, name: null, description: null }))
  const tools = [
    ...toolsOf({ entities, knowledge: true }, false),
    ...toolsOf({ entities: many, knowledge: true }, false),
  ]
  const needed = tools.map(([name, { scope }]) => [name === 'ask_docs' ? 'ask_…' : name, scope] as const)
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(needed))
})

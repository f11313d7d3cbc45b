import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { limitSettings } from '../../src/config/settings/limits.ts'
import { userSettings } from '../../src/config/settings/user.ts'

const docs = new URL('../../docs/', import.meta.url)
const configuration = readFileSync(new URL('configuration.md', docs), 'utf8')
const guides = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => readFileSync(new URL(name, docs), 'utf8'))
  .join('\n')
const rows = new Set(
  [...configuration.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name),
  ),
)
const inCode = new Set([...guides.matchAll(/`[^`]+`|^```[\s\S]*?^```/gm)].flatMap(([code]) => code.match(/\w+/g) ?? []))

/** The fields, those of objects inside too; what is chosen by its value (`choose`) is a field without any. */
function fieldsOf(schema: z.core.$ZodType, path = ''): string[] {
  const { def } = schema as z.ZodType & { def: { innerType?: z.ZodType; in?: z.ZodType } }
  const inside = def.innerType ?? def.in
  if (inside !== undefined) return fieldsOf(inside, path)
  if (!(schema instanceof z.ZodObject)) return [path]
  return Object.entries(schema.shape as z.core.$ZodShape).flatMap(([name, field]) =>
    fieldsOf(field, path === '' ? name : `${path}.${name}`),
  )
}

const fields = fieldsOf(userSettings)

test('each field of the configuration, and of its server, has a row in docs/configuration.md', () => {
  const named = new Set([...rows].map((row) => row.split('.')[0]))
  const first = fields.map((path) => path.replace(/^server\./, '').split('.')[0] ?? '')
  expect(first.filter((name) => !named.has(name))).toEqual([])
})

test('each limit has a row in docs/configuration.md', () => {
  expect(fieldsOf(limitSettings).filter((path) => !rows.has(path))).toEqual([])
})

test('each field inside another is named as code in a guide', () => {
  expect(fields.filter((path) => !inCode.has(path.slice(path.lastIndexOf('.') + 1)))).toEqual([])
})

import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toJsonSchemas } from '../../src/wire/document/json-schema.ts'
import { SearchRequest } from '../../src/wire/search.ts'
import { someFilters } from '../support/knowledge/filter-comparison.ts'

test('the JSON schema of filters takes what is valid and refuses other operators', () => {
  const { components } = toJsonSchemas([SearchRequest])
  const schemas = JSON.parse(JSON.stringify(components).replaceAll('#/components/schemas/', '#/$defs/')) as object
  const check = new Ajv2020({ strict: false }).compile({ $ref: '#/$defs/Filters', $defs: schemas })
  fc.assert(fc.property(someFilters, (filters) => check(filters)))
  for (const filters of [{ a: { $ne: 1 } }, { a: {} }, { and: [] }, { or: [{ a: { in: 1 } }] }, { not: { a: null } }])
    expect(check(filters), JSON.stringify(filters)).toBe(false)
})

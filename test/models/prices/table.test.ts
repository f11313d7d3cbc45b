import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPricePackage } from '../../../scripts/price-package.ts'
import { priceTable, printTable } from '../../../scripts/price-table.ts'
import { createCosts } from '../../../src/models/prices/costs.ts'
import { shippedTable } from '../../../src/models/prices/table.ts'

const root = join(import.meta.dirname, '../../..')
const read = (file: string) => readFile(join(root, file), 'utf8')

test('the shipped table is that of the package that package.json pins; else run: npm run prices', async () => {
  const { devDependencies } = JSON.parse(await read('package.json')) as { devDependencies: Record<string, string> }
  const { name, version, providers, licence } = await readPricePackage()
  const { source, version: shipped, as_of } = shippedTable()
  expect({ source, shipped }).toEqual({ source: name, shipped: version })
  expect(devDependencies[name]).toBe(version)
  expect(as_of).toMatch(/^20\d\d-\d\d-\d\d$/)
  expect(await read('src/models/prices/prices.json')).toBe(
    printTable(priceTable(providers, { source, version, as_of })),
  )
  expect(await read('src/models/prices/LICENSE')).toBe(await readFile(licence, 'utf8'))
})

const ids: Record<string, string> = { xai: 'x-ai', togetherai: 'together' }
const moments = [
  '2025-01-31T12:00:00.000Z',
  '2026-09-23T00:15:00.000Z',
  '2026-11-22T03:30:00.000Z',
  '2027-02-01T08:00:00.000Z',
]
const calls = [
  { input_tokens: 1_000, output_tokens: 700, total_tokens: 1_700 },
  { input_tokens: 250_000, output_tokens: 1, total_tokens: 250_001, cached_input_tokens: 190_000 },
  {
    input_tokens: 272_000,
    output_tokens: 9_000,
    total_tokens: 281_000,
    cached_input_tokens: 10,
    cache_write_tokens: 99_000,
  },
]

test('every model that the package names costs what the package itself calculates', async () => {
  const { providers, calcPrice } = await readPricePackage()
  const costs = createCosts({})
  let compared = 0
  for (const provider of Object.keys(shippedTable().providers)) {
    const id = ids[provider] ?? provider
    const models = providers.find((one) => one.id === id)?.models ?? []
    const names = models.flatMap((model) => [
      model.id,
      ...(JSON.stringify(model.match).match(/(?<=:")[^"\\]+(?=")/g) ?? []),
    ])
    for (const name of [...new Set(names)]) {
      for (const at of moments) {
        for (const usage of calls) {
          const { input_tokens, output_tokens, cached_input_tokens = 0, cache_write_tokens = 0 } = usage
          const theirs = calcPrice(
            { input_tokens, output_tokens, cache_read_tokens: cached_input_tokens, cache_write_tokens },
            name,
            { providerId: id, timestamp: new Date(at) },
          )
          const ours = costs.ofCall({ model: `${provider}/${name}`, usage, at })
          if (ours === null) continue
          compared++
          expect(ours.usd, `${provider}/${name} at ${at}`).toBeCloseTo(theirs?.total_price ?? Number.NaN, 10)
        }
      }
    }
  }
  expect(compared).toBeGreaterThan(4_000)
})

import { execFile } from 'node:child_process'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { readPricePackage } from './price-package.ts'
import { priceTable, printTable } from './price-table.ts'

/*
 * Writes the price table again, from the package that package.json pins. The package does not say of when its prices are:
 * the registry says when this version was published.
 */

const folder = join(import.meta.dirname, '../src/models/prices')
const { name, version, providers, licence } = await readPricePackage()
const { stdout } = await promisify(execFile)('npm', ['view', `${name}@${version}`, 'time', '--json'])
const published = (JSON.parse(stdout) as Record<string, string>)[version]
if (published === undefined) throw new Error(`The registry does not say when ${name} ${version} was published.`)

const file = join(folder, 'prices.json')
const before = await readFile(file, 'utf8').catch(() => '')
const text = printTable(priceTable(providers, { source: name, version, as_of: published.slice(0, 10) }))
await writeFile(file, text)
await copyFile(licence, join(folder, 'LICENSE'))
console.error(text === before ? 'unchanged' : `${text.split('\n').length} lines, ${text.length} bytes`)

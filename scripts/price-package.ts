import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Provider } from './price-table.ts'

const name = '@pydantic/genai-prices'

/** The prices as the installed package has them. It gives them only to those who wait for an update, and there is none. */
export async function readPricePackage() {
  const folder = join(import.meta.dirname, '../node_modules', name)
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
  const module = (await import(pathToFileURL(join(folder, 'dist/index.js')).href)) as {
    waitForUpdate(): Promise<Provider[]>
    calcPrice(usage: object, model: string, options: object): { total_price: number } | null
  }
  return {
    name,
    version,
    providers: await module.waitForUpdate(),
    calcPrice: module.calcPrice,
    licence: join(folder, 'LICENSE'),
  }
}

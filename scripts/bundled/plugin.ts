import { join } from 'node:path'
import { bundledPackages, priceSource, readPackage } from './packages.ts'
import { softwareBill } from './sbom.ts'
import { thirdPartyLicenses } from './third-party.ts'

interface Chunk {
  type: string
  moduleIds?: readonly string[]
}
interface Output {
  emitFile(file: { type: 'asset'; fileName: string; source: string }): string
}

/** A plugin of the build: writes the licences of all that is bundled, of `copied` packages and of the price table, and the list of them. */
export function tellBundled(copied: readonly string[], prices: string) {
  return {
    name: 'tell-bundled',
    generateBundle(this: Output, _options: unknown, bundle: Record<string, Chunk>) {
      const found = bundledPackages(Object.values(bundle).flatMap(({ moduleIds }) => moduleIds ?? []))
      if (found.length === 0) return
      const root = join(import.meta.dirname, '../..')
      const brought = copied.map((place) => readPackage(join(root, place)))
      const packages = [...found, ...brought, priceSource(join(root, prices))]
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: thirdPartyLicenses(packages) })
      this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: softwareBill(packages) })
    },
  }
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BundledPackage } from './packages.ts'

/**
 * What is inside the package, as CycloneDX 1.6: programs that look for known weaknesses read it, since `npm audit` does not
 * see what is bundled. The same packages give the same bytes.
 */
export function softwareBill(packages: readonly BundledPackage[]): string {
  const root = join(import.meta.dirname, '../..')
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name, version, 'bom-ref': `${name}@${version}` } },
    components: packages.map((one) => component(one, lock.packages[one.place]?.integrity)),
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

interface Lock {
  packages: Record<string, { integrity?: string }>
}

function component({ place, name, version, license }: BundledPackage, integrity: string | undefined) {
  const [scope, bare] = name.startsWith('@') ? name.split('/') : [undefined, name]
  return {
    type: 'library',
    'bom-ref': place,
    ...(scope === undefined ? {} : { group: scope }),
    name: bare,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(integrity === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }] }),
    licenses: [/ (AND|OR|WITH) /.test(license) ? { expression: license } : { license: { id: license } }],
  }
}

function hexOf(integrity: string): string {
  return Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex')
}

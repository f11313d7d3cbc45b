import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Chunk {
  type: string
  moduleIds?: readonly string[]
}
interface Output {
  emitFile(file: { type: 'asset'; fileName: string; source: string }): string
}

/** A plugin of the build that writes the licences of all bundled packages beside the bundle, as they ask for. */
export function thirdPartyLicenses(fileName: string) {
  return {
    name: 'third-party-licenses',
    generateBundle(this: Output, _options: unknown, bundle: Record<string, Chunk>) {
      const folders = new Set<string>()
      for (const chunk of Object.values(bundle)) {
        for (const id of chunk.moduleIds ?? []) {
          const folder = packageFolder(id)
          if (folder !== undefined) folders.add(folder)
        }
      }
      if (folders.size === 0) return
      const source = [...folders]
        .sort()
        .map(describe)
        .join(`\n${'-'.repeat(80)}\n\n`)
      this.emitFile({ type: 'asset', fileName, source })
    },
  }
}

function packageFolder(moduleId: string): string | undefined {
  const path = moduleId.replace(/^\0/, '').replace(/\?.*$/, '')
  if (!path.includes('/node_modules/')) return undefined
  for (let folder = dirname(path); folder.includes('/node_modules/'); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json')
    if (existsSync(manifest) && 'version' in JSON.parse(readFileSync(manifest, 'utf8'))) return folder
  }
  return undefined
}

function describe(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name))
  const text = file === undefined ? 'The package brings no licence text.' : readFileSync(join(folder, file), 'utf8')
  return `${manifest.name} ${manifest.version} (${manifest.license ?? 'see below'})\n\n${text.trim()}\n`
}

interface Entry {
  version?: string
  name?: string
  integrity?: string
  link?: boolean
  inBundle?: boolean
}

export interface LockedPackage {
  /** Where it is installed: `node_modules/…`. */
  place: string
  name: string
  version: string
}

/** The packages of a package-lock.json that npm would install without comparing what comes with a hash. */
export function withoutIntegrity(lockFile: string): LockedPackage[] {
  return Object.entries(entriesOf(lockFile))
    .filter(([place, entry]) => place.includes('node_modules/') && !entry.link && !entry.inBundle && !entry.integrity)
    .map(([place, { name, version = '' }]) => ({
      place,
      name: name ?? place.replace(/^.*node_modules\//, ''),
      version,
    }))
}

/** The same file with an `integrity` after the `version` of those that have none; `found` is keyed by `name@version`. */
export function fillIntegrity(lockFile: string, found: ReadonlyMap<string, string>): string {
  const lock = JSON.parse(lockFile) as { packages: Record<string, Entry> }
  for (const { place, name, version } of withoutIntegrity(lockFile)) {
    const integrity = found.get(`${name}@${version}`)
    if (integrity !== undefined) lock.packages[place] = { version, integrity, ...lock.packages[place] }
  }
  return `${JSON.stringify(lock, null, 2)}\n`
}

function entriesOf(lockFile: string): Record<string, Entry> {
  return (JSON.parse(lockFile) as { packages: Record<string, Entry> }).packages
}

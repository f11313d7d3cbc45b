import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fillIntegrity, withoutIntegrity } from '../../scripts/lock-file.ts'

const root = join(import.meta.dirname, '../..')
const lockFile = readFileSync(join(root, 'package-lock.json'), 'utf8')

describe('package-lock.json', () => {
  it('has an integrity for every package but those that CONTRIBUTING.md lists', () => {
    const listed = [...readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(/^- `(\S+@\d\S*)`$/gm)]
    const missing = withoutIntegrity(lockFile).map(({ name, version }) => `${name}@${version}`)
    expect(missing.toSorted()).toEqual(listed.map(([, name]) => name).toSorted())
  })

  it('of the judges has an integrity for every package', () => {
    expect(withoutIntegrity(readFileSync(join(root, 'test/judges/package-lock.json'), 'utf8'))).toEqual([])
  })

  it('is written again as npm writes it', () => {
    expect(fillIntegrity(lockFile, new Map())).toBe(lockFile)
  })
})

describe('fillIntegrity', () => {
  const file = (entry: object) => `${JSON.stringify({ packages: { '': {}, 'node_modules/@a/b': entry } }, null, 2)}\n`

  it('completes what the registry has and leaves the rest', () => {
    const found = new Map([['@a/b@1.0.0', 'sha512-x']])
    expect(fillIntegrity(file({ version: '1.0.0', dev: true }), found)).toBe(
      file({ version: '1.0.0', integrity: 'sha512-x', dev: true }),
    )
    expect(fillIntegrity(file({ version: '1.0.1' }), found)).toBe(file({ version: '1.0.1' }))
    expect(withoutIntegrity(file({ version: '1.0.1' }))).toEqual([
      { place: 'node_modules/@a/b', name: '@a/b', version: '1.0.1' },
    ])
  })

  it('leaves an integrity that is there, and links', () => {
    expect(withoutIntegrity(file({ version: '1.0.0', integrity: 'sha512-y' }))).toEqual([])
    expect(withoutIntegrity(file({ link: true }))).toEqual([])
  })
})

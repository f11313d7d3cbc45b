import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtInConfig } from '../../src/config/built-in.ts'
import { configParts } from '../../src/server/parts.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sourcesIn = (root: string) => builtInConfig(configParts, root).knowledge?.sources

describe('the documents without a config', () => {
  it('are ./docs and the README where there are such', async () => {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, 'notes.md'), '# Notes')
    await writeFile(join(folder.path, 'README.md'), '# Read me')
    expect(sourcesIn(folder.path)).toEqual(['README.md'])
    await mkdir(join(folder.path, 'docs'))
    expect(sourcesIn(folder.path)).toEqual(['docs', 'README.md'])
  })

  it('are else the texts directly in the folder', async () => {
    await using folder = await temporaryFolder()
    await mkdir(join(folder.path, 'below.md'))
    for (const name of ['b.md', 'A.TXT', 'c.mdx', '.hidden.md', 'd.ts', 'below.md/e.md', 'f[1].md'])
      await writeFile(join(folder.path, name), 'text')
    expect(sourcesIn(folder.path)).toEqual(['A.TXT', 'b.md', 'c.mdx', 'f[1].md'])
  })

  it('are at most 200 files of 20 MB together', async () => {
    await using folder = await temporaryFolder()
    for (let index = 0; index < 210; index++) await writeFile(join(folder.path, `${index}.md`), 'text')
    expect(sourcesIn(folder.path)).toHaveLength(200)
    await writeFile(join(folder.path, '100.md'), Buffer.alloc(20 * 1024 * 1024, 'x'))
    expect(sourcesIn(folder.path)).toEqual(['0.md', '1.md', '10.md'])
  })

  it('are none in a home folder, at the top of a disk, and in a folder that is not there', async () => {
    expect(sourcesIn('/')).toEqual([])
    expect(sourcesIn(homedir())?.filter((source) => source !== 'docs' && source !== 'README.md')).toEqual([])
    expect(sourcesIn(join(homedir(), 'is', 'not', 'there'))).toEqual([])
  })
})

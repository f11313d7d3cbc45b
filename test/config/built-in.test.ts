import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtInSources, isTooWide, unreadDocuments, withBuiltIn } from '../../src/config/built-in.ts'
import { configParts } from '../../src/server/parts.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sourcesIn = (root: string) => builtInSources(root)

describe('the documents without a config', () => {
  it('are ./docs and the README where there are such', async () => {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, 'notes.md'), '# Notes')
    await writeFile(join(folder.path, 'README.md'), '# Read me')
    expect(sourcesIn(folder.path)).toEqual(['README.md'])
    await mkdir(join(folder.path, 'docs'))
    expect(sourcesIn(folder.path)).toEqual(['docs', 'README.md'])
    await writeFile(join(folder.path, 'readme.txt'), 'Read me')
    expect(sourcesIn(folder.path)).toEqual(['docs', 'README.md', 'readme.txt'])
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

  it('leave out texts beside ./docs and a README, which are counted, with the sources that have them too', async () => {
    await using folder = await temporaryFolder()
    for (const name of ['b.md', 'c.md']) await writeFile(join(folder.path, name), 'text')
    expect(unreadDocuments(folder.path)).toBeUndefined()
    await writeFile(join(folder.path, 'README.md'), 'text')
    expect(unreadDocuments(folder.path)).toEqual({ count: 2, sources: ['*.md'] })
    await mkdir(join(folder.path, 'docs'))
    await writeFile(join(folder.path, 'd.txt'), 'text')
    expect(unreadDocuments(folder.path)).toEqual({ count: 3, sources: ['docs', '*.{md,txt}'] })
    expect(unreadDocuments(homedir())).toBeUndefined()
  })

  it('are none in a home folder, at the top of a disk, and in a folder that is not there', async () => {
    expect(sourcesIn('/')).toEqual([])
    expect(sourcesIn(homedir()).filter((source) => !/^(?:docs$|readme\.)/i.test(source))).toEqual([])
    expect(sourcesIn(join(homedir(), 'is', 'not', 'there'))).toEqual([])
  })

  it('are none in a home folder under another name', async () => {
    await using folder = await temporaryFolder()
    await symlink(homedir(), join(folder.path, 'home'))
    expect(isTooWide(join(folder.path, 'home'))).toBe(true)
    expect(isTooWide(folder.path)).toBe(false)
  })
})

describe('a config without agents, teams and workflows', () => {
  it('gets the built-in agents, and their documents unless it names its own', async () => {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, 'README.md'), '# Read me')
    const model = 'ollama/qwen3:8b'
    const whole = withBuiltIn({ model }, configParts, folder.path)
    expect(Object.keys(whole.agents ?? {})).toEqual(['docs', 'echo'])
    expect(whole).toMatchObject({ model, knowledge: { sources: ['README.md'] } })
    const own = { knowledge: { sources: ['handbook'] } }
    expect(withBuiltIn(own, configParts, folder.path).knowledge).toBe(own.knowledge)
  })

  it.each([{ agents: {} }, { teams: {} }, { workflows: {} }])('is left as it is when it says so: %j', (user) => {
    expect(withBuiltIn(user, configParts, '/')).toBe(user)
  })
})

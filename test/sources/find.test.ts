import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findSources } from '../../src/sources/find.ts'

describe('finding sources', () => {
  let root: string
  const put = async (path: string, text = 'text') => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'sources-'))
    await mkdir(join(root, '.git'))
    await put('.gitignore', 'drafts/\n*.log\n!keep.log\n')
    await put('docs/.gitignore', '/secret.md\n')
    for (const path of [
      'README.md',
      'docs/a.md',
      'docs/b.html',
      'docs/secret.md',
      'docs/deep/secret.md',
      'docs/drafts/x.md',
      'docs/deep/c.log',
      'docs/deep/keep.log',
      'docs/.env',
      'docs/.env.local',
      'docs/.hidden/d.md',
      'docs/node_modules/p/readme.md',
      'docs/logo.png',
      'docs/plan.SVG',
      'other/e.md',
    ])
      await put(path)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it('walks folders without dotfiles, node_modules, pictures and what git ignores', async () => {
    expect(await findSources(root, ['docs'])).toEqual([
      'docs/a.md',
      'docs/b.html',
      'docs/deep/keep.log',
      'docs/deep/secret.md',
    ])
  })

  it('expands globs by the same rules, each file once', async () => {
    expect(await findSources(root, ['docs/**/*.md', 'docs/*.png', 'docs/a.md', 'README.md'])).toEqual([
      'README.md',
      'docs/a.md',
      'docs/deep/secret.md',
    ])
  })

  it('takes a file that is named as it is', async () => {
    expect(
      await findSources(root, ['docs/.env', 'docs/logo.png', 'docs/secret.md', join(root, 'other', 'e.md')]),
    ).toEqual(['docs/.env', 'docs/logo.png', 'docs/secret.md', 'other/e.md'])
  })

  it('follows no link out of the folder that a source names, whatever form it has, and says so', async () => {
    await put('linked/real.md')
    await put('linked/.secret.md')
    await put('outside/secret.md')
    const link = (to: string, from: string) => symlink(join(root, to), join(root, from))
    await link('outside/secret.md', 'linked/out.md')
    await link('outside', 'linked/away')
    await link('linked', 'linked/loop')
    await link('linked/real.md', 'linked/same.md')
    await link('linked/.secret.md', 'linked/shown.md')
    await link('linked', 'by-name')
    for (const source of ['linked', 'linked/**/*.md', 'linked/*.md', 'linked/*/*.md']) {
      const skipped: string[] = []
      const files = await findSources(root, [source], { skipped: (path) => skipped.push(path) })
      expect(files, source).toEqual(source === 'linked/*/*.md' ? [] : ['linked/real.md'])
      if (source !== 'linked/*/*.md') expect(skipped, source).toContain('linked/out.md')
    }
    const skipped: string[] = []
    const named = ['linked/out.md', 'linked/same.md', 'by-name']
    expect(await findSources(root, named, { skipped: (path) => skipped.push(path) })).toEqual([
      'by-name/real.md',
      'linked/same.md',
    ])
    expect(skipped).toContain('linked/out.md')
  })

  it('takes a file by a link when it is not found without it', async () => {
    await put('notes/text.txt')
    await symlink(join(root, 'notes/text.txt'), join(root, 'notes/again.md'))
    expect(await findSources(root, ['notes/*.md'])).toEqual(['notes/again.md'])
    expect(await findSources(root, ['notes'])).toEqual(['notes/text.txt'])
  })

  it('leaves out what programs write, says so, and takes it when it is named itself', async () => {
    const generated = [
      'made/Cargo.lock',
      'made/app.min.js',
      'made/bundle.js.map',
      'made/completions/tool.fish',
      'made/contrib/tool-completion.bash',
      'made/deep/package-lock.json',
      'made/go.sum',
      'made/zsh/site-functions/_tool',
    ]
    const kept = ['made/completions/README.md', 'made/lock.md', 'made/map.js', 'made/package.json', 'made/yarn.lock.md']
    for (const path of [...generated, ...kept]) await put(path)
    for (const source of ['made', 'made/**']) {
      const said: string[] = []
      expect(await findSources(root, [source], { generated: (path) => said.push(path) }), source).toEqual(kept)
      expect(said.sort(), source).toEqual(generated)
    }
    const said: string[] = []
    const files = await findSources(root, ['made', ...generated.slice(1)], { generated: (path) => said.push(path) })
    expect(files).toEqual([...generated.slice(1), ...kept].sort())
    expect(said).toEqual(['made/Cargo.lock'])
  })

  it('says which path is not there', async () => {
    await expect(findSources(root, ['nowhere'])).rejects.toThrow("'nowhere'")
    expect(await findSources(root, ['none/*.md'])).toEqual([])
  })
})

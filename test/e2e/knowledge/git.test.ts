import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { parseGitAddress } from '../../../src/core/knowledge/git-address.ts'
import { type FetchRepository, fetchRepository } from '../../../src/sources/git/repository.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-source-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const origin = () => join(folder, 'origin')

function run(...args: string[]): void {
  const as = ['-c', 'user.name=Ann', '-c', 'user.email=ann@host.test', '-c', 'init.defaultBranch=main']
  execFileSync('git', [...as, '-C', origin(), ...args], { stdio: 'pipe' })
}

/** One commit more in the repository. */
function commit(files: Record<string, string | undefined>): void {
  mkdirSync(origin(), { recursive: true })
  run('init', '--quiet')
  for (const [path, text] of Object.entries(files)) {
    const file = join(origin(), path)
    mkdirSync(dirname(file), { recursive: true })
    if (text === undefined) rmSync(file)
    else writeFileSync(file, text)
  }
  run('add', '-A')
  run('commit', '--quiet', '-m', 'x')
}

async function read(text: string, more: Partial<FetchRepository> = {}): Promise<Record<string, string>> {
  const address = parseGitAddress(text)
  if (typeof address === 'string') throw new Error(address)
  const rules = { allowHttp: false, allowPrivate: false }
  const { signal } = new AbortController()
  const repository = await fetchRepository({
    address,
    rules,
    root: folder,
    cache: join(folder, 'cache'),
    signal,
    ...more,
  })
  try {
    const texts: Record<string, string> = {}
    for (const file of repository.files) texts[file.path] = (await repository.read(file)).toString()
    return texts
  } finally {
    await repository.close()
  }
}

it('reads the files of a branch, a tag, a commit or a folder, and of the newest commit the next time', async () => {
  commit({ 'README.md': 'one', 'docs/ä b.md': 'two', 'docs/deep/c.txt': 'three' })
  run('tag', 'v1')
  commit({ 'README.md': 'changed', 'docs/deep/c.txt': undefined })
  expect(await read('git:origin')).toEqual({ 'README.md': 'changed', 'docs/ä b.md': 'two' })
  expect(await read('git:origin#v1:docs')).toEqual({ 'docs/ä b.md': 'two', 'docs/deep/c.txt': 'three' })
  expect(await read('git:origin#main:README.md', { cache: undefined })).toEqual({ 'README.md': 'changed' })
  commit({ 'README.md': 'again' })
  expect(await read('git:origin')).toMatchObject({ 'README.md': 'again' })
})

it('reads a repository whose history was rewritten, and over what a killed fetch has left', async () => {
  commit({ 'a.md': 'one' })
  await read('git:origin')
  rmSync(join(origin(), '.git'), { recursive: true })
  commit({ 'a.md': 'another history' })
  expect(await read('git:origin')).toEqual({ 'a.md': 'another history' })
  const [cached = ''] = execFileSync('ls', [join(folder, 'cache')])
    .toString()
    .split('\n')
  writeFileSync(join(folder, 'cache', cached, 'HEAD'), 'damaged')
  expect(await read('git:origin')).toEqual({ 'a.md': 'another history' })
})

it('leaves out links, hidden files, pictures and submodules, and runs no hook or filter', async () => {
  commit({ 'a.md': 'a', '.env': 'secret', 'node_modules/x.md': 'x', 'b.png': 'b', 'package-lock.json': '{}' })
  symlinkSync('/etc/hostname', join(origin(), 'link.md'))
  const ran = join(folder, 'ran')
  for (const hook of ['reference-transaction', 'post-checkout']) {
    writeFileSync(join(origin(), '.git/hooks', hook), `#!/bin/sh\ntouch ${ran}-$$\n`)
    chmodSync(join(origin(), '.git/hooks', hook), 0o700)
  }
  commit({
    '.gitattributes': '*.md filter=evil',
    '.gitmodules': '[submodule "x"]\npath = x\nurl = ext::sh -c touch% ran\n',
  })
  rmSync(join(origin(), '.git/hooks'), { recursive: true })
  execFileSync('sh', ['-c', `rm -f ${ran}-*`])
  expect(await read('git:origin')).toEqual({ 'a.md': 'a' })
  expect(
    execFileSync('sh', ['-c', `ls ${ran}-* 2>/dev/null | wc -l`])
      .toString()
      .trim(),
  ).toBe('0')
})

it.each([
  'git:ext::sh -c "touch /tmp/x"',
  'git:ssh://host.test/x',
  'git:ann@host.test:x',
  'git:file:///etc',
  'git:',
  'git:https://host.test/x#--upload-pack=touch',
  'git:https://host.test/x#a..b',
  'git:https://host.test/x#main:../etc',
])('refuses %s', (address) => {
  expect(parseGitAddress(address)).toEqual(expect.any(String))
})

it('names documents by repository, ref and path, without user and password', () => {
  const address = parseGitAddress('git:https://ann:5%25@Host.test/owner/name.git#v1.2:/docs/')
  expect(address).toMatchObject({
    repository: 'https://host.test/owner/name.git',
    user: 'ann',
    password: '5%',
    ref: 'v1.2',
  })
  expect(address).toMatchObject({ folder: 'docs', prefix: 'git:host.test/owner/name@v1.2/' })
  expect(parseGitAddress('git:../repo#:docs/')).toMatchObject({
    ref: undefined,
    folder: 'docs',
    prefix: 'git:../repo/',
  })
  expect(parseGitAddress('git:../repo:docs')).toContain("a folder in it follows #: 'git:../handbook#main:docs'")
  expect(parseGitAddress('git:../repo')).toMatchObject({
    repository: '../repo',
    isFolder: true,
    prefix: 'git:../repo/',
  })
})

it('says when git is not installed, when the ref is not there, and when a repository is too large', async () => {
  commit({ 'a.md': 'a'.repeat(1_000) })
  await expect(read('git:origin#nowhere')).rejects.toThrow(/^git says: couldn't find remote ref nowhere/)
  await expect(read('git:gone')).rejects.toThrow('git says: ')
  await expect(read('git:origin', { maxBytes: 100 })).rejects.toMatchObject({ code: 'payload_too_large' })
  vi.stubEnv('PATH', folder)
  await expect(read('git:origin')).rejects.toThrow('git is not installed, or not in PATH.')
})

it('goes only where the rules allow, follows no redirect, and sends a password to its own origin', async () => {
  const sent: (string | undefined)[] = []
  const server = createServer((request, response) => {
    sent.push(request.headers.authorization)
    response.writeHead(302, { location: `http://localhost:${port}/elsewhere${request.url}` }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const address = `git:http://ann:secret@127.0.0.1:${port}/x`
  try {
    await expect(read(address)).rejects.toThrow('is not encrypted')
    await expect(read(address, { rules: { allowHttp: true, allowPrivate: false } })).rejects.toThrow(
      'is not an address on the public internet',
    )
    const network = { lookup: async () => [{ address: '127.0.0.1', family: 4 }] }
    const named = { rules: { allowHttp: true, allowPrivate: false, network } }
    await expect(read(`git:http://host.test:${port}/x`, named)).rejects.toThrow(
      'leads to no address on the public internet',
    )
    expect(sent).toEqual([])
    await expect(read(address, { rules: { allowHttp: true, allowPrivate: true } })).rejects.toThrow(
      /^(?!.*secret)git says: /,
    )
    expect(sent).toEqual([`Basic ${Buffer.from('ann:secret').toString('base64')}`])
  } finally {
    await new Promise((resolve) => server.close(resolve).closeAllConnections())
  }
})

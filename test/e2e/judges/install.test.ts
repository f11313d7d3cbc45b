import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { root } from '../../support/program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

/** A lock file whose only package is a folder beside it, which no registry is asked for. */
const lockOf = (name: string) =>
  JSON.stringify({
    name: 'some-judges',
    lockfileVersion: 3,
    packages: {
      '': { name: 'some-judges', dependencies: { [name]: `file:${name}` } },
      [name]: { version: '1.0.0' },
      [`node_modules/${name}`]: { resolved: name, link: true },
    },
  })

test('judges are installed when their lock file changes, and again after an install that failed', async () => {
  await using folder = await temporaryFolder()
  const judges = join(folder.path, 'judges')
  const write = (file: string, text: string) => writeFile(join(judges, file), text)
  const installs = async () => {
    const { stderr } = await run(process.execPath, [join(root, 'scripts/install-judges.ts'), judges])
    return stderr.includes('Installing the judges')
  }
  const read = () => readFile(join(judges, 'node_modules/one/package.json'), 'utf8')
  await mkdir(join(judges, 'one'), { recursive: true })
  await write('one/package.json', '{"name":"one","version":"1.0.0"}')
  await write('package.json', '{"name":"some-judges","dependencies":{"one":"file:one"}}')
  await write('package-lock.json', lockOf('one'))

  expect(await installs()).toBe(true)
  expect(await read()).toContain('1.0.0')
  expect(await installs()).toBe(false)

  await write('package-lock.json', lockOf('two'))
  await expect(installs()).rejects.toThrow('npm ci')
  await write('package-lock.json', lockOf('one'))
  expect(await installs()).toBe(true)
  expect(await read()).toContain('1.0.0')

  await rm(join(judges, 'node_modules'), { recursive: true })
  expect(await installs()).toBe(true)
  expect(await installs()).toBe(false)
}, 120_000)

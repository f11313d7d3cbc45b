import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LoadedConfig, LoadOptions } from '../../../src/config/load/load.ts'

interface Failure {
  message: string
  file?: string
  line?: number
  excerpt?: string
  files: string[]
}
type Answer = { loaded?: LoadedConfig; failed?: Failure; unexpected?: string }

const agentFile = join(import.meta.dirname, '../../../src/runnables/agent/agent.ts')

let child: ChildProcess
let folder: string

beforeAll(async () => {
  const env = { ...process.env, LOAD_TEST_REAL: 'real' }
  child = fork(join(import.meta.dirname, 'loader-child.ts'), { execArgv: [], env })
  await once(child, 'message')
})
afterAll(() => void child.kill())

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agentserve-load-')))
  await write('package.json', '{"type":"module"}')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(path: string, text: string): Promise<string> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

async function ask(options: Partial<LoadOptions>): Promise<Answer> {
  child.send({ folder, ...options })
  const [answer] = await once(child, 'message')
  return answer as Answer
}

async function loadConfig(options: Partial<LoadOptions> = {}): Promise<LoadedConfig> {
  const { loaded, ...other } = await ask(options)
  if (loaded === undefined) throw new Error(JSON.stringify(other))
  return loaded
}

async function failure(options: Partial<LoadOptions> = {}): Promise<Failure> {
  const { failed, ...other } = await ask(options)
  if (failed === undefined) throw new Error(JSON.stringify(other))
  return failed
}

/** What the config says under `model`, the field that these tests use as a mark. */
async function mark(): Promise<unknown> {
  return (await loadConfig()).user?.model
}

describe('loadConfig', () => {
  it('prefers agent.config.ts, then the other names, then the key in package.json', async () => {
    await write('package.json', '{"type":"module","agentserve":{"model":"in/package"}}')
    expect(await mark()).toBe('in/package')
    for (const name of ['mjs', 'js', 'mts', 'ts']) {
      await write(`agent.config.${name}`, `export default { model: 'in/${name}' }`)
      expect(await mark()).toBe(`in/${name}`)
    }
  })

  it('looks in the folder alone, never above it, and says where a config may come', async () => {
    await write('agent.config.ts', 'export default {}')
    const below = join(folder, 'below')
    await mkdir(below)
    const loaded = await loadConfig({ folder: below })
    expect(loaded.root).toBe(below)
    expect(loaded.file ?? loaded.user).toBeUndefined()
    expect(loaded.files).toContain(join(below, 'agent.config.ts'))
    expect(loaded.files).toContain(join(below, '.env'))
  })

  it('reads again what the config imports, however deep, and lists it', async () => {
    await write('agent.config.ts', "import { a } from './lib/a.ts'\nexport default { model: 'x/' + (a as string) }")
    await write('lib/a.ts', "export { b as a } from './b.ts'")
    await write('lib/b.ts', "import data from './data.json' with { type: 'json' }\nexport const b: string = data.value")
    await write('lib/data.json', '{"value":"one"}')
    expect(await mark()).toBe('x/one')
    await write('lib/data.json', '{"value":"two"}')
    expect(await mark()).toBe('x/two')
    await write('lib/b.ts', "export const b = 'three'")
    const loaded = await loadConfig()
    expect(loaded.user?.model).toBe('x/three')
    expect(loaded.files.map((file) => file.slice(folder.length + 1))).toEqual([
      'agent.config.ts',
      'lib/a.ts',
      'lib/b.ts',
      '.env',
    ])
  })

  it('reads CommonJS files again too, with what they require', async () => {
    await write('agent.config.ts', "import { value } from './value.cjs'\nexport default { model: value }")
    await write('value.cjs', "exports.value = 'x/' + require('./word.cjs') + require('./data.json').end")
    await write('word.cjs', "module.exports = 'one'")
    await write('data.json', '{"end":"!"}')
    expect(await mark()).toBe('x/one!')
    await write('word.cjs', "module.exports = 'two'")
    expect(await mark()).toBe('x/two!')
    await write('data.json', '{"end":"?"}')
    const loaded = await loadConfig()
    expect(loaded.user?.model).toBe('x/two?')
    const names = ['agent.config.ts', 'value.cjs', 'word.cjs', 'data.json', '.env']
    expect(loaded.files).toEqual(names.map((name) => join(folder, name)))
  })

  it('tells of a file that is imported later', async () => {
    await write('agent.config.ts', "export default { dispose: () => import('./late.ts') }")
    const file = await write('late.ts', 'export {}')
    await loadConfig()
    child.send({ dispose: true })
    expect(await once(child, 'message')).toEqual([{ late: file }, undefined])
  })

  it('follows a package of the workspace, and neither an installed one nor agentserve itself', async () => {
    await write('packages/mine/package.json', '{"name":"mine","type":"module","exports":"./index.ts"}')
    await write('packages/mine/index.ts', "export const value = 'one'")
    await write('node_modules/installed/package.json', '{"name":"installed","type":"module","exports":"./index.js"}')
    await write('node_modules/installed/index.js', 'globalThis.times = (globalThis.times ?? 0) + 1\nexport default 0')
    await write('elsewhere/package.json', '{"name":"agentserve","type":"module","exports":"./dist/index.js"}')
    await write('elsewhere/dist/index.js', 'globalThis.owns = (globalThis.owns ?? 0) + 1\nexport default 0')
    await symlink(join(folder, 'packages/mine'), join(folder, 'node_modules/mine'))
    await symlink(join(folder, 'elsewhere'), join(folder, 'node_modules/agentserve'))
    await write(
      'agent.config.ts',
      "import 'agentserve'\nimport 'installed'\nimport { value } from 'mine'\nexport default { model: value + '/' + globalThis.times + globalThis.owns }",
    )
    expect(await mark()).toBe('one/11')
    await write('packages/mine/index.ts', "export const value = 'two'")
    expect(await mark()).toBe('two/11')
  })

  it('puts .env into the environment before the config runs, the real environment winning', async () => {
    await write('.env', 'LOAD_TEST_REAL=file\nLOAD_TEST_NEW="a b"')
    await write(
      'agent.config.ts',
      "export default { model: process.env.LOAD_TEST_REAL + '/' + process.env.LOAD_TEST_NEW }",
    )
    expect(await mark()).toBe('real/a b')
    await write('.env', 'LOAD_TEST_NEW=changed')
    expect(await mark()).toBe('real/changed')
    await write('.env', '')
    expect(await mark()).toBe('real/undefined')
  })

  it('takes the file that was named, and starts paths from its folder', async () => {
    const file = await write('other/my.config.ts', "export default { model: 'x/named' }")
    const loaded = await loadConfig({ file: 'other/my.config.ts' })
    expect(loaded).toMatchObject({ file, root: join(folder, 'other'), user: { model: 'x/named' } })
    expect((await failure({ file: 'nowhere.ts' })).message).toMatch(/--config nowhere\.ts: there is no such file/)
  })

  it.each([
    ['a syntax error of TypeScript', 'const a: number = 1\nconst b = {\nexport default b\n', 3, /Unexpected token/],
    [
      'a syntax error that Node gives no place of',
      'const a: string = ""\nconst a = 2\nexport default {}\n',
      2,
      /already been declared/,
    ],
    ['an enum', '\nenum A { X }\nexport default {}\n', 2, /const object for an enum/],
    ['an error at run time', '\n\nthrow new Error("boom")\n', 3, /boom/],
    [
      'a package that is not there',
      '\nimport x from "no-such-package"\nexport default x\n',
      2,
      /npm install no-such-package/,
    ],
    ['an import without extension', "\nimport x from './lib'\nexport default x\n", 2, /write '…\/lib\.ts'/],
    ['an import of .js for .ts', "\nimport x from './lib.js'\nexport default x\n", 2, /write '…\/lib\.ts'/],
    [
      'a missing export',
      "\nimport { y } from './lib.ts'\nexport default y\n",
      2,
      /does not provide an export named 'y'/,
    ],
    [
      'a type that is imported as a value',
      "\nimport { Word } from './types.ts'\nexport default {} satisfies Word\n",
      2,
      /If that is a type, write `import type`/,
    ],
    ['JSX', "\nimport './view.tsx'\nexport default {}\n", 2, /Node runs \.ts, \.mts, \.cts and JavaScript/],
    ['a path of tsconfig.json', "\nimport '@/lib.ts'\nexport default {}\n", 2, /Node knows no paths of tsconfig/],
    [
      'a setting that an agent does not know',
      `import { agent } from ${JSON.stringify(agentFile)}\nexport default {\n  agents: { a: agent({ instruction: 'x' }) },\n}\n`,
      3,
      /agent\(\): `instruction` is not a setting; did you mean 'instructions'\?$/m,
    ],
    ['a missing file', "import x from './gone.ts'\nexport default x\n", 1, /There is no file '.*gone\.ts'/],
  ])('shows file, line and the lines around for %s', async (_, code, line, message) => {
    await write('lib.ts', 'export default {}')
    await write('types.ts', 'export type Word = object')
    await write('view.tsx', 'export default <p />')
    const file = await write('agent.config.ts', code)
    const error = await failure()
    expect(error.message).toMatch(message)
    expect(error.message).toContain(`agent.config.ts:${line}: `)
    expect(error).toMatchObject({ file, line })
    expect(error.excerpt).toContain(`> ${line} | ${code.split('\n')[line - 1]}`)
    expect(error.files).toContain(file)
  })

  it('shows the imported file when the fault is there, and loads again once it is mended', async () => {
    await write('agent.config.ts', "import model from './lib/model.ts'\nexport default { model }")
    const file = await write('lib/model.ts', 'export default "x/one"')
    expect(await mark()).toBe('x/one')
    await write('lib/model.ts', 'const ok = 1\nexport default {{\n')
    const error = await failure()
    expect(error).toMatchObject({ file, line: 2 })
    expect(error.files).toEqual(expect.arrayContaining([file, join(folder, 'agent.config.ts')]))
    await write('lib/model.ts', 'export default "x/two"')
    expect(await mark()).toBe('x/two')
  })

  it.each([
    ['is empty', '', /no default export/],
    ['exports nothing', 'export const x = 1', /no default export/],
    ['exports no object', 'export default 7', /the default export must be defineConfig\({ … }\), not 7/],
    [
      'fails to read a file',
      "import { readFileSync } from 'node:fs'\nreadFileSync('/no/such')\nexport default {}",
      /ENOENT/,
    ],
  ])('refuses a config that %s, rather than serving the built-in one', async (_, code, message) => {
    await write('agent.config.ts', code)
    expect((await failure()).message).toMatch(message)
  })

  it.each(['import { join } from "node:path"\nexport default { agents: {} }', 'export default { agents: {} }'])(
    'says what to change in the package.json of `npm init`: %j',
    async (code) => {
      await write('package.json', '{"type":"commonjs"}')
      await write('agent.config.ts', code)
      expect((await failure()).message).toMatch(/^\S+agent\.config\.ts:1: .*Write "type": "module" there\.$/)
    },
  )

  it('names a package.json that is no JSON', async () => {
    const file = await write('package.json', '{')
    expect(await failure()).toMatchObject({ file, message: expect.stringContaining('JSON') })
  })
})

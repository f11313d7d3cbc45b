import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type IPty, spawn } from '@lydell/node-pty'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bin, environment } from '../../support/program.ts'

let folder: string
let terminal: IPty | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-init-'))
})
afterEach(async () => {
  terminal?.kill()
  await rm(folder, { recursive: true, force: true })
})

/** The program in a terminal: `type` waits for words on the screen before it types. */
function open(...args: string[]) {
  const child = spawn(process.execPath, [bin, 'init', ...args], { cwd: folder, env: environment({}), cols: 100 })
  terminal = child
  let screen = ''
  child.onData((text) => {
    screen += text
  })
  const ended = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)))
  const shows = (words: string) => vi.waitFor(() => expect(screen).toContain(words), 10_000)
  return {
    shows,
    async type(after: string, keys: string) {
      await shows(after)
      screen = ''
      child.write(keys)
    },
    ended,
  }
}

const config = () => readFile(join(folder, 'agent.config.ts'), 'utf8')

describe('agentserve init on a terminal', () => {
  it('asks what to start from, by number or name, until it is told', async () => {
    const { type, shows, ended } = open()
    await type('Number or name [basic]: ', '9\r')
    await type('Number or name [basic]: ', '4\r')
    await shows('chat report --message \'{"topic":"green tea"}\'')
    expect(await ended).toBe(0)
    expect(await config()).toContain('workflow(')
  })

  it('takes the first when nothing is typed', async () => {
    const { type, ended } = open()
    await type('Number or name [basic]: ', '\r')
    expect(await ended).toBe(0)
    expect(await config()).toContain('echo')
  })

  it('asks before it replaces anything, and takes anything but yes for no', async () => {
    await writeFile(join(folder, 'agent.config.ts'), 'mine')
    const first = open('--template', 'team')
    await first.shows('These files already exist: agent.config.ts')
    await first.type('Overwrite them? [y/N]: ', '\r')
    await first.shows('Nothing was written.')
    expect(await first.ended).toBe(1)
    expect(await config()).toBe('mine')

    const second = open('--template', 'team')
    await second.type('Overwrite them? [y/N]: ', 'y\r')
    expect(await second.ended).toBe(0)
    expect(await config()).toContain('team(')
  })

  it('adds to the package.json and .gitignore that are there, and asks nothing', async () => {
    const own = { scripts: { lint: 'biome' }, dependencies: { agentserve: '1.2.3' } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(own))
    await writeFile(join(folder, '.gitignore'), 'dist\n')
    const { shows, ended } = open('--template', 'basic')
    await shows('.gitignore and package.json kept what was there.')
    expect(await ended).toBe(0)
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      type: 'module',
      scripts: { ...own.scripts, dev: 'agentserve dev' },
      dependencies: { ...own.dependencies, zod: expect.any(String) },
    })
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('dist\nnode_modules\n.agentserve\n.env\n')
  })

  it('refuses a folder that is a file, or below one', async () => {
    await writeFile(join(folder, 'taken'), '')
    for (const name of ['taken', 'taken/below']) {
      const { ended, shows } = open(name, '--template', 'basic')
      await shows('is no folder: a file has its name')
      expect(await ended).toBe(2)
    }
  })

  it('writes nothing when it is left with Ctrl-C', async () => {
    const { type, ended } = open()
    await type('Number or name [basic]: ', '\u0003')
    expect(await ended).not.toBe(0)
    await expect(config()).rejects.toThrow('ENOENT')
  })
})

import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import type { ModuleSizes, StudioManifest } from '../../scripts/studio/plugin.ts'
import type { ServerConfig } from '../../src/config/types.ts'
import { startServer } from '../support/server.ts'

async function started(config: ServerConfig = {}) {
  const server = await startServer({ sessionStorage: 'memory', ...config })
  onTestFinished(() => server.close())
  return server
}

test('every address of the studio is its page, which may load nothing from elsewhere', async () => {
  const { call } = await started({ prefix: '/my"api', studio: { path: '/look' } })
  for (const path of ['/look', '/look/s/ses_1/r/run_1/e/3', '/look/whatever']) {
    const { status, headers, text } = await call('GET', path)
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ])
    expect(headers.get('content-security-policy')).toContain("trusted-types 'none'")
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(text).toContain('data-prefix="/my&quot;api"')
    expect(text).not.toMatch(/<script>|<style|style=|onload/)
  }
})

test('its files are kept by browsers for good, and come compressed to those that can read it', async () => {
  const { call } = await started()
  const { text } = await call('GET', '/studio')
  const [, script = ''] = /src="([^"]+\.js)"/.exec(text) ?? []
  const [, style = ''] = /href="([^"]+\.css)"/.exec(text) ?? []
  for (const [path, type] of [
    [script, 'text/javascript; charset=utf-8'],
    [style, 'text/css; charset=utf-8'],
  ] as const) {
    const packed = await call('GET', path, undefined, { 'accept-encoding': 'gzip, br' })
    const zipped = await call('GET', path, undefined, { 'accept-encoding': 'br;q=0, gzip;q=0.5' })
    const plain = await call('GET', path, undefined, { 'accept-encoding': 'br;q=0, gzip;q=0' })
    expect(packed.headers.get('content-encoding')).toBe('br')
    expect(zipped.headers.get('content-encoding')).toBe('gzip')
    expect(plain.headers.get('content-encoding')).toBe(null)
    expect([packed.text, zipped.text]).toEqual([plain.text, plain.text])
    expect([plain.status, plain.headers.get('content-type')]).toEqual([200, type])
    expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(plain.headers.get('vary')).toContain('Accept-Encoding')
  }
})

test.each(['manifest.json', 'x.js', '..%2f..%2findex.js', '%2e%2e%2fmanifest.json', 'studio.js.br', 'studio.css.gz'])(
  'no other file is sent: %s',
  async (file) => {
    const { call } = await started()
    expect((await call('GET', `/studio/assets/${file}`)).status).toBe(404)
  },
)

test('without keys it is served on this machine only, and not at all when it is off', async () => {
  const status = async (config: ServerConfig) => (await (await started(config)).call('GET', '/studio')).status
  expect(await status({ address: '0.0.0.0:0', allowUnauthenticated: true })).toBe(404)
  expect(await status({ address: '0.0.0.0:0', auth: { keys: ['k'.repeat(32)] } })).toBe(200)
  expect(await status({ studio: false })).toBe(404)
  expect(await status({ studio: true })).toBe(200)
})

test('a browser loads at most 44 KB first, and 100 KB in all', async () => {
  const { call } = await started()
  const { text: page } = await call('GET', '/studio')
  const first = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, path = '']) => basename(path))
  const { files, script } = JSON.parse(await readFile(join(built, 'manifest.json'), 'utf8')) as StudioManifest
  const texts = new Map<string, string>()
  const sizes = new Map<string, number>([['the page', gzipSync(page).length]])
  for (const file of files) {
    const { text, headers } = await call('GET', `/studio/assets/${file}`, undefined, { 'accept-encoding': 'gzip' })
    expect(headers.get('content-encoding')).toBe('gzip')
    texts.set(file, text)
    sizes.set(file, Number(headers.get('content-length') ?? Number.NaN))
  }
  const sizeOf = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + (sizes.get(name) ?? Number.NaN), 0)
  expect(first.filter((file) => file.endsWith('.js')).sort()).toEqual([...importedBy(script, texts)].sort())
  const table = await largest(sizes)
  expect(sizeOf(['the page', ...first]), table).toBeLessThanOrEqual(44 * 1024)
  expect(sizeOf(sizes.keys()), table).toBeLessThanOrEqual(100 * 1024)
})

const needless = /node_modules\/zod|src\/(?:schema|wire)\/|src\/client\/run-(?:stream|result)|src\/core\/events\/fold/

test('the page has no schemas, and no part of the client that it never calls', async () => {
  const modules = Object.values(await modulesOf()).flatMap((sizes) => Object.keys(sizes))
  expect(modules).toEqual(expect.arrayContaining(['src/studio/main.tsx', 'src/client/run-events.ts']))
  expect(modules.filter((module) => needless.test(module))).toEqual([])
})

/** The script and all that it imports before it runs. */
function importedBy(script: string, texts: ReadonlyMap<string, string>, found = new Set<string>()): Set<string> {
  if (found.has(script)) return found
  found.add(script)
  for (const [, name = ''] of (texts.get(script) ?? '').matchAll(/(?:from|import)"\.\/([^"]+)"/g)) {
    importedBy(name, texts, found)
  }
  return found
}

const built = join(import.meta.dirname, '../../dist/web/studio')

async function modulesOf(): Promise<ModuleSizes> {
  return JSON.parse(await readFile(join(built, 'modules.json'), 'utf8')) as ModuleSizes
}

/** The files, gzipped, each with its largest modules as they are before they are minified. */
async function largest(sizes: ReadonlyMap<string, number>): Promise<string> {
  const modules = await modulesOf()
  const rows = [...sizes].flatMap(([file, size]) => [
    `${file}: ${size}`,
    ...Object.entries(modules[file] ?? {})
      .slice(0, 15)
      .map(([module, moduleSize]) => `  ${module} ${moduleSize}`),
  ])
  return ['What the studio loads, gzipped:', ...rows].join('\n')
}

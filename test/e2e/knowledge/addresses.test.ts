import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project } from '../../support/program.ts'
import { openSite, type TestSite } from '../../support/test-site.ts'

const html = 'text/html'
const cyrillic = '<h1>\u041b\u0438\u0444\u0442</h1><p>\u0421\u043b\u043e\u043d \u0435\u0434\u0435\u0442.</p>'

let project: Project
let site: TestSite
beforeAll(async () => {
  project = await createProject({ 'empty.txt': '', 'blank.md': '\n \n' })
  site = await openSite({
    '/robots.txt': { status: 404 },
    '/cyrillic': { headers: { 'content-type': `${html}; charset=windows-1251` }, body: inWindows1251(cyrillic) },
    '/gzip': {
      headers: { 'content-type': html, 'content-encoding': 'gzip' },
      body: gzipSync('<p>The lever is on the left.</p>'),
    },
    '/blank': ' \n',
    '/page': '<h1>Levers</h1><p>The second lever stops the lift.</p>',
    '/other': '<p>The third lever opens the door.</p>',
  })
})
afterAll(async () => {
  await site.close()
  await project.remove()
})

test('a page is read in the charset that its server names', async () => {
  expect((await ingest('/cyrillic')).code).toBe(0)
  const { stdout } = await command(project, ['search', '\u0441\u043b\u043e\u043d', '--json'])
  expect(stdout).toContain('\u0421\u043b\u043e\u043d \u0435\u0434\u0435\u0442.')
})

test('a page that is sent gzipped is read', async () => {
  expect((await ingest('/gzip')).code).toBe(0)
  const { stdout } = await command(project, ['search', 'lever left', '--json'])
  expect(stdout).toContain('The lever is on the left.')
})

test('the server of a page is told the User-Agent, and sends no unchanged page again', async () => {
  await ingest('/page')
  expect(site.agents).not.toContain(undefined)
  site.asked()
  expect((await ingest('/page')).code).toBe(0)
  expect(site.asked()).toContain('304 /page')
})

test('an address with another fragment or with a password names the same document, without them', async () => {
  await ingest('/other')
  await ingest('/other#door')
  await ingest('/other', 'reader:secret@')
  const { stdout } = await command(project, ['knowledge', 'list', '--json'])
  const sources = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { source: string }]))
  expect(sources.map(({ source }) => source).filter((source) => source.includes('/other'))).toEqual([
    `${site.url}/other`,
  ])
})

test('what is wrong with an empty page is said with its address', async () => {
  const { stdout } = await ingest('/blank')
  const address = `${site.url}/blank`
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'skipped', reason: `${address} can't be read: it is empty.` })
})

test.each(['empty.txt', 'blank.md'])('what is wrong with %s is said with its name', async (file) => {
  const { stdout, stderr } = await command(project, ['ingest', file])
  expect(`${stdout}${stderr}`).toContain(`${file}: ${file} can't be read: it is empty.`)
})

function ingest(path: string, user = '') {
  const address = `${site.url.replace('//', `//${user}`)}${path}`
  return command(project, ['ingest', address, '--allow-http', '--allow-private', '--json'])
}

/** ASCII and the letters of Russian. */
function inWindows1251(text: string): Buffer {
  return Buffer.from([...text].map((letter) => letter.charCodeAt(0)).map((code) => (code > 127 ? code - 0x350 : code)))
}

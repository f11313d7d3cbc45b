import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { docsPagePicture, viewport } from '../../scripts/pictures/docs-page.ts'
import { studioPictures, studioSizes } from '../../scripts/pictures/studio.ts'
import { openBrowser, type TestBrowser } from '../support/browser/browser.ts'
import { root } from '../support/program.ts'

const folder = join(root, 'docs/pictures')
let chromium: TestBrowser
beforeAll(async () => {
  chromium = await openBrowser()
})
afterAll(() => chromium?.close())

const sizeOf = (png: Buffer) => {
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

test('the picture of the documentation page shows the page of now: npm run pictures makes it again', async () => {
  const { digest } = await docsPagePicture(chromium)
  const recorded = await readFile(join(root, 'scripts/pictures/docs-page.sha256'), 'utf8')
  expect(recorded).toBe(`${digest}\n`)
  expect(sizeOf(await readFile(join(folder, 'docs-page.png')))).toEqual(viewport)
}, 120_000)

test('the scenes of the studio can be played, and each has its picture, of at most 170 KB', async () => {
  const made = await studioPictures(chromium)
  const names = (await readdir(folder)).filter((name) => name.startsWith('studio'))
  expect(Object.keys(made).sort()).toEqual(names.sort())
  for (const name of names) {
    const kept = await readFile(join(folder, name))
    expect(sizeOf(kept), name).toEqual(studioSizes[name])
    expect(sizeOf(Buffer.from(made[name] ?? [])), name).toEqual(studioSizes[name])
    expect(kept.length, name).toBeLessThan(170_000)
  }
}, 120_000)

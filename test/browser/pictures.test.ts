import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { docsPagePicture, viewport } from '../../scripts/pictures/docs-page.ts'
import { root } from '../support/program.ts'

test('the picture of the documentation page shows the page of now: npm run pictures makes it again', async () => {
  const { digest } = await docsPagePicture()
  const recorded = await readFile(join(root, 'scripts/pictures/docs-page.sha256'), 'utf8')
  expect(recorded).toBe(`${digest}\n`)
  const png = await readFile(join(root, 'docs/pictures/docs-page.png'))
  expect(png.subarray(1, 4).toString()).toBe('PNG')
  expect({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) }).toEqual(viewport)
}, 120_000)

// Makes the pictures of docs/pictures, from the program as it is built now.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser } from '../test/support/browser/browser.ts'
import { docsPagePicture } from './pictures/docs-page.ts'
import { terminalPictures } from './pictures/scenes.ts'
import { studioPictures } from './pictures/studio.ts'

const chromium = await openBrowser()
try {
  const { png, digest } = await docsPagePicture(chromium)
  await write({ 'docs-page.png': png, ...(await studioPictures(chromium)) })
  await writeFile(join(import.meta.dirname, 'pictures/docs-page.sha256'), `${digest}\n`)
} finally {
  await chromium.close()
}
await write(await terminalPictures())

async function write(pictures: Record<string, string | Uint8Array>): Promise<void> {
  for (const [name, picture] of Object.entries(pictures)) {
    await writeFile(join(import.meta.dirname, '../docs/pictures', name), picture)
    console.log(`docs/pictures/${name}`)
  }
}

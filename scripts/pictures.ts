// Makes the pictures of docs/pictures, from the program as it is built now.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { docsPagePicture } from './pictures/docs-page.ts'
import { terminalPictures } from './pictures/scenes.ts'

const { png, digest } = await docsPagePicture()
for (const [name, picture] of Object.entries({ ...(await terminalPictures()), 'docs-page.png': png })) {
  await writeFile(join(import.meta.dirname, '../docs/pictures', name), picture)
  console.log(`docs/pictures/${name}`)
}
await writeFile(join(import.meta.dirname, 'pictures/docs-page.sha256'), `${digest}\n`)

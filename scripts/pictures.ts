// Makes the pictures of docs/pictures, from the program as it is built now.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { docsPagePicture } from './pictures/docs-page.ts'
import { terminalPictures } from './pictures/scenes.ts'

const folder = join(import.meta.dirname, '../docs/pictures')
const { png, digest } = await docsPagePicture()
const files = { ...(await terminalPictures()), 'docs-page.png': png, 'docs-page.sha256': `${digest}\n` }
for (const [name, content] of Object.entries(files)) {
  await writeFile(join(folder, name), content)
  console.log(`docs/pictures/${name}`)
}

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Corpus {
  files: number
  bytesEach: number
}

/** Numbers in `[0, 1)` that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const syllables = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za bre cla dru fle gri sto tra'.split(
  ' ',
)

/** Words as prose has them: few that are everywhere, and many that are rare (Zipf). */
export function vocabulary(size: number, random: () => number): () => string {
  const words = Array.from({ length: size }, (_, at) => {
    const length = 1 + Math.floor(random() * 3) + (at > 200 ? 1 : 0)
    return Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join('')
  })
  return () => words[Math.min(size - 1, Math.floor(size ** random()) - 1)] ?? ''
}

/** One Markdown file: headings, paragraphs, a list and a code block, of about so many bytes. */
export function markdownFile(at: number, bytes: number, word: () => string, random: () => number): string {
  const sentence = () => {
    const words = Array.from({ length: 8 + Math.floor(random() * 12) }, word)
    return `${words.join(' ').replace(/^./, (first) => first.toUpperCase())}. `
  }
  const parts = [`# ${word()} ${word()} ${at}\n\n`]
  for (let length = 0, section = 0; length < bytes; section++) {
    const body = Array.from({ length: 3 }, () => Array.from({ length: 4 }, sentence).join('').trim())
    const list = Array.from({ length: 4 }, () => `- ${sentence().trim()}`).join('\n')
    const code = `\`\`\`ts\nconst ${word()}_${at} = ${word()}(${section})\n\`\`\``
    const part = `## ${word()} ${word()}\n\n${body.join('\n\n')}\n\n${section % 2 === 0 ? list : code}\n\n`
    parts.push(part)
    length += part.length
  }
  return parts.join('').slice(0, bytes)
}

/** Writes the files, a hundred to a folder. */
export async function writeCorpus(folder: string, { files, bytesEach }: Corpus): Promise<void> {
  const random = seeded(7)
  const word = vocabulary(60_000, random)
  for (let at = 0; at < files; at++) {
    const place = join(folder, `part-${Math.floor(at / 100)}`)
    if (at % 100 === 0) await mkdir(place, { recursive: true })
    await writeFile(join(place, `page-${at}.md`), markdownFile(at, bytesEach, word, random))
  }
}

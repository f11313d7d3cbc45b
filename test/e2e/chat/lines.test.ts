import { afterAll, beforeAll, expect, test } from 'vitest'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'
import { openPty } from '../../support/pty.ts'

let project: Project
let server: RunningServer

const config = `
import { readFileSync } from 'node:fs'
import { agent, defineConfig } from 'agentserve'

export default defineConfig({
  agents: {
    say: agent({
      async *run({ text }) {
        yield readFileSync(text + '.md', 'utf8')
      },
    }),
  },
})
`

const words = 'This is a rather long list item that has to be wrapped at the width of the terminal, and once more.'
const texts = {
  latin: words,
  cjk: '这是一个相当长的列表项目必须在终端的宽度处换行。日本語の長い文章も折り返されます。그리고 한국어 문장도 함께 나옵니다.',
  emoji:
    'A family 👨‍👩‍👧‍👦 and a flag 🏳️‍🌈 and a farmer 👩🏽‍🌾 and a heart ❤️ and a flag 🇩🇪 walk to the end of this long line with 👨‍👩‍👧‍👦 again.',
  rtl: 'هذا عنصر قائمة طويل إلى حد ما يجب التفافه عند عرض الطرفية. וגם בעברית יש כאן משפט ארוך שצריך להישבר.',
}

const documents = Object.fromEntries(
  Object.entries(texts).map(([name, text]) => [
    `${name}.md`,
    [
      text,
      `1. First.\n2. Then configure it. ${text}\n   - deeper ${text}\n     10. deepest ${text}`,
      `> quoted ${text}\n>\n> - and listed ${text}`,
      `- [x] done ${text}`,
      'The end.',
    ].join('\n\n'),
  ]),
)

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config, ...documents })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})

/** What is said, without what shows how it is laid out. */
const letters = (text: string) => text.replace(/[\s│•>\-[\]]/gu, '').replace(/\d+\./g, '')

test.each(Object.keys(texts).flatMap((name) => [40, 80, 120].map((columns) => [name, columns] as const)))(
  'chat keeps every letter of %s text at %d columns',
  async (name, columns) => {
    const terminal = openPty(project, ['chat', 'say'], { columns })
    await terminal.until('Enter sends')
    terminal.send(`${name}\r`)
    await terminal.until(/The end\.[\s\S]*\d ms/)
    const shown = terminal.text()
    terminal.send('\x04')
    await terminal.exited
    await terminal.close()
    const committed = shown.slice(shown.indexOf('say\n') + 4, shown.lastIndexOf('The end.') + 'The end.'.length)
    expect(letters(committed)).toBe(letters(documents[`${name}.md`] ?? ''))
  },
)

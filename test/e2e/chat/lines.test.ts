import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateAnswers } from '../../support/markdown/generated.ts'
import { differs } from '../../support/markdown/same-text.ts'
import { type Answer, written } from '../../support/markdown/written.ts'
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
        for (const piece of readFileSync(text + '.md', 'utf8').match(/[^]{1,50}/g)) yield piece
      },
    }),
  },
})
`

const kinds = /^(?:item|cjk|emoji|rtl|marks|url): a (?:list in a list in a list|quote with a list|table)$/
/** Of the corpus in test/cli/markdown/corpus.test.tsx. */
const sample: Answer[] = [...written.filter(({ name }) => kinds.test(name)), ...generateAnswers(2, 23)]

beforeAll(async () => {
  const documents = sample.map(({ markdown }, place) => [`${place}.md`, markdown])
  project = await createProject({ 'agent.config.ts': config, ...Object.fromEntries(documents) })
  server = await serve(project, 'start')
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})

/** On a terminal with colours, code stands without its marks. */
const unmarked = (text: string) => text.replaceAll('`', '')

test.each([40, 80, 120])('chat keeps every letter on a terminal of %d columns', async (columns) => {
  const terminal = openPty(project, ['chat', 'say'], { columns })
  await terminal.until('Enter sends')
  const wrong: string[] = []
  for (const [place, { name, shows }] of sample.entries()) {
    terminal.send(`${place}\r`)
    const start = `> ${place}\n\nsay\n`
    const answer = () => {
      const text = terminal.text()
      return new RegExp(`> ${place}\\n\\nsay\\n([^]*?)\\n  [\\d.]+ m?s\\n`).exec(text)?.[1]
    }
    await terminal.until(() => answer() !== undefined).catch((error: Error) => wrong.push(`${start} ${error.message}`))
    const lines = unmarked(answer() ?? '').split('\n')
    const faults = shows.map((text) => differs(lines, unmarked(text)))
    if (!faults.includes(undefined)) wrong.push(`${name}: ${faults[0]}`)
  }
  terminal.send('\x04')
  await terminal.exited
  await terminal.close()
  expect(wrong).toEqual([])
})

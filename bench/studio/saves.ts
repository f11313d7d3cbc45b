import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { TestBrowser } from '../../test/support/browser/browser.ts'
import { createProject, type Project, serve } from '../../test/support/program.ts'
import { openScriptedServer } from '../../test/support/scripted-server.ts'
import { percentile } from '../percentile.ts'
import { until } from '../studio-page.ts'
import { measuredOn } from '../write-into.ts'
import { ask } from './ask.ts'

/** What is asked of each template: an agent whose instructions are changed. */
const templates = {
  basic: { agent: 'docs', question: 'What is this?' },
  knowledge: { agent: 'handbook', question: 'How many hours do I work?' },
  // The team itself waits before it runs the code of its editor.
  team: { agent: 'research', question: 'When do you open?' },
  workflow: { agent: 'docs', question: 'How long does green tea draw?' },
  'chat-ui': { agent: 'docs', question: 'When do you open?' },
} as const
export type Template = keyof typeof templates

export interface SaveTimes {
  template: Template
  /** From before a file is written until the diff is drawn, without the time in which the model was at work. */
  ms: number[]
}

/** The first ones compile. */
const warmUps = 3
const commented = /\/\/ model: .*/
const line = 'model: { baseURL: process.env.MODEL_URL, model: `scripted` },'

/** Saves another instruction in a project of each template, as it is after `init`, with one turn pinned in the studio. */
export async function measureSaves(chromium: TestBrowser, saves: number): Promise<SaveTimes[]> {
  const all: SaveTimes[] = []
  for (const template of Object.keys(templates) as Template[]) {
    console.error(`saves in the template ${template}`)
    all.push({ template, ms: await measureTemplate(chromium, template, saves) })
  }
  return all
}

async function measureTemplate(chromium: TestBrowser, template: Template, saves: number): Promise<number[]> {
  const { agent, question } = templates[template]
  const model = await openModel()
  const project = await createProject()
  await project.copy(join(import.meta.dirname, '../../templates', template), '.')
  const config = (await project.read('agent.config.ts')).replace(commented, line)
  const save = (word: string) => write(project, config.replaceAll(/(instructions: ')/g, `$1Say ${word}. `))
  await save('word0')
  const server = await serve(project, 'dev', [], { MODEL_URL: `${model.url}/v1` })
  const context = await chromium.browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    const { run_id, session_id } = await ask(server.url, agent, { input: question })
    const page = await context.newPage()
    await page.goto(`${server.url}/studio/s/${session_id}/r/${run_id}`)
    await page.getByRole('button', { name: 'Watch', exact: true }).click()
    await page.getByRole('region', { name: question }).waitFor()
    await page.evaluate(watchDiff)
    const times: number[] = []
    for (let count = 1; count <= saves + warmUps; count++) {
      const ms = await timeOf(page, `word${count}`, save, model)
      if (count > warmUps) times.push(ms)
    }
    return times
  } finally {
    await context.close()
    await server.stop()
    await Promise.all([model.close(), project.remove()])
  }
}

async function timeOf(
  page: Page,
  word: string,
  save: (word: string) => Promise<void>,
  model: { workedMs(): number },
): Promise<number> {
  const worked = model.workedMs()
  const begun = Date.now()
  await save(word)
  await until(page, `window.drawn.${word} > 0`)
  const drawn = (await page.evaluate(`window.drawn.${word}`)) as number
  return drawn - begun - (model.workedMs() - worked)
}

/** When each word of an answer was in the diff, in the frame after that. */
const watchDiff = `(() => {
  const drawn = (window.drawn = {})
  new MutationObserver(() => {
    for (const { textContent } of document.querySelectorAll('.watched ins')) {
      const [word] = /word\\d+/.exec(textContent) ?? []
      if (word === undefined || drawn[word] !== undefined) continue
      drawn[word] = 0
      requestAnimationFrame(() => requestAnimationFrame(() => { drawn[word] = Date.now() }))
    }
  }).observe(document, { subtree: true, childList: true, characterData: true })
})()`

/** Says the word that the instructions name; it knows how long it was at work, one call at a time. */
async function openModel() {
  let worked = 0
  const server = await openScriptedServer(({ body }, response) => {
    const begun = performance.now()
    const content = `The answer is ${/Say (word\d+)/.exec(body)?.[1]}.`
    const send = (data: object) =>
      response.write(`data: ${JSON.stringify({ id: '1', created: 1, model: 'scripted', ...data })}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    send({ choices: [{ index: 0, delta: { role: 'assistant', content } }] })
    const usage = { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 }
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })
    response.end('data: [DONE]\n\n')
    worked += performance.now() - begun
  })
  return { url: server.url, close: server.close, workedMs: () => worked }
}

function write(project: Project, text: string): Promise<void> {
  return project.write('agent.config.ts', text)
}

export function tableOfSaves(all: readonly SaveTimes[]): string {
  const rows = all.map(({ template, ms }) => {
    const [p50, p95] = [percentile(ms, 0.5), percentile(ms, 0.95)]
    return `| \`${template}\` | ${ms.length} | ${p50.toFixed(0)} ms | ${p95.toFixed(0)} ms | ≤ 300 ms |`
  })
  return [
    measuredOn(availableParallelism(), cpus()[0]?.model.trim() ?? ''),
    '',
    '| Template | Saves | Median | p95 | Goal |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

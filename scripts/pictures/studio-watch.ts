import type { TestBrowser } from '../../test/support/browser/browser.ts'
import { nothingWrong, visit } from '../../test/support/browser/visit.ts'
import { createProject, serve } from '../../test/support/program.ts'
import { openScriptedServer } from '../../test/support/scripted-server.ts'

/** What the model says to each question: before the instruction is changed, and after it. */
const answers = {
  'When do you open in winter?': [
    'From November to March the office opens at nine, on Saturdays at ten. It is closed on Sundays.',
    'From November to March at nine, on Saturdays at ten.',
  ],
  'May I bring my dog?': [
    'Dogs are welcome in the hall, but not in the reading room, which is kept quiet.',
    'Dogs are welcome in the hall, not in the reading room.',
  ],
} as const
type Question = keyof typeof answers

const config = (instructions: string) => `import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  model: { baseURL: process.env.MODEL_URL, model: 'scripted' },
  agents: { desk: agent({ instructions: '${instructions}' }) },
})
`

/** Two turns after an instruction was changed in the file of a project. */
export async function watchPicture(
  chromium: TestBrowser,
  viewport: { width: number; height: number },
): Promise<Uint8Array> {
  const model = await openScriptedServer(({ body }, response) => {
    const question = (Object.keys(answers) as Question[]).find((one) => body.includes(one))
    const content = question === undefined ? '' : answers[question][body.includes('Be brief') ? 1 : 0]
    const send = (data: object) =>
      response.write(`data: ${JSON.stringify({ id: '1', created: 1, model: 'scripted', ...data })}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    send({ choices: [{ index: 0, delta: { role: 'assistant', content } }] })
    const tokens = Math.ceil(content.length / 4)
    const usage = { prompt_tokens: 212, completion_tokens: tokens, total_tokens: 212 + tokens }
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })
    response.end('data: [DONE]\n\n')
  })
  const project = await createProject({ 'agent.config.ts': config('Answer for the library.') })
  const server = await serve(project, 'dev', [], { MODEL_URL: `${model.url}/v1` })
  try {
    const look = { viewport, colorScheme: 'light', reducedMotion: 'reduce' } as const
    const { page, end } = await visit(chromium, server.url, '/studio', look)
    for (const input of Object.keys(answers)) {
      const answer = await fetch(`${server.url}/api/v1/agents/desk/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input }),
      })
      const { run_id, session_id } = (await answer.json()) as { run_id: string; session_id: string }
      await page.goto(`${server.url}/studio/s/${session_id}/r/${run_id}`)
      await page.getByRole('button', { name: 'Watch', exact: true }).click()
      await page.getByRole('region', { name: input }).waitFor()
    }
    await project.write('agent.config.ts', config('Answer for the library. Be brief.'))
    await page.getByText('2 of 2 answered').waitFor()
    await page.getByRole('region', { name: 'Answer' }).nth(1).locator('del').first().waitFor()
    await page.mouse.move(0, 0)
    await page.evaluate('document.activeElement.blur()')
    const png = await page.screenshot({ animations: 'disabled' })
    const wrong = await end()
    if (JSON.stringify(wrong) !== JSON.stringify(nothingWrong))
      throw new Error(`The page complains: ${JSON.stringify(wrong)}`)
    return png
  } finally {
    await server.stop()
    await Promise.all([model.close(), project.remove()])
  }
}

import { availableParallelism, cpus } from 'node:os'
import type { TestBrowser } from '../../test/support/browser/browser.ts'
import { createProject, serve } from '../../test/support/program.ts'
import { percentile } from '../percentile.ts'
import { measuredOn } from '../write-into.ts'
import { ask } from './ask.ts'

const count = 200
const failing = 'grid-1'
const config = `
import { agent, defineConfig } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
export default defineConfig({
  agents: {
    desk: agent({ model: scriptedModel(() => 'The office opens at nine.') }),
    /** Its own code is run again, while the answers of a model come from the file. */
    door: agent({ run: () => 'The office opens at ten.' }),
  },
})
`

/** Milliseconds, from the click or key to what it shows. */
interface GridTimes {
  open: number
  run: number
  filter: number
  compare: number
}

/** 200 saved conversations in the grid: opened, all run, filtered to the one that fails, and that one compared word by word. */
export async function measureGrid(chromium: TestBrowser, rounds: number): Promise<string> {
  const project = await createProject({ 'agent.config.ts': config })
  const server = await serve(project, 'dev')
  const all: GridTimes[] = []
  try {
    await save(server.url, 'desk', 'grid-0')
    await save(server.url, 'door', failing)
    const text = await project.read('test/grid-0.session.json')
    for (let number = 2; number < count; number++) await project.write(`test/grid-${number}.session.json`, text)
    const changed = (await project.read(`test/${failing}.session.json`)).replaceAll('ten', 'nine')
    await project.write(`test/${failing}.session.json`, changed)
    for (let round = 0; round < rounds; round++) all.push(await measureRound(chromium, server.url))
  } finally {
    await server.stop()
    await project.remove()
  }
  return tableOf(all)
}

async function save(url: string, agentId: string, name: string): Promise<void> {
  const { session_id } = await ask(url, agentId, { input: 'When do you open?' })
  const saved = await fetch(`${url}/api/v1/dev/tests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ session_id, name }),
  })
  if (saved.status !== 201) throw new Error(`the test could not be saved: ${saved.status} ${await saved.text()}`)
}

async function measureRound(chromium: TestBrowser, url: string): Promise<GridTimes> {
  const context = await chromium.browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    const page = await context.newPage()
    const timed = async (act: () => Promise<unknown>, shown: () => Promise<unknown>) => {
      const fromMs = performance.now()
      await act()
      await shown()
      return performance.now() - fromMs
    }
    const link = page.getByRole('link', { name: `test/${failing}`, exact: true })
    return {
      open: await timed(
        () => page.goto(`${url}/studio/tests`),
        () => page.getByText(`${count} tests`).waitFor(),
      ),
      run: await timed(
        () => page.getByRole('button', { name: 'Run all' }).click(),
        () =>
          page
            .getByRole('status')
            .getByText(`${count - 1} passed, 1 failed`)
            .waitFor({ timeout: 120_000 }),
      ),
      filter: await timed(
        () => page.getByLabel('Show').selectOption('failed'),
        () => page.getByRole('link', { name: 'test/grid-8', exact: true }).waitFor({ state: 'detached' }),
      ),
      compare: await timed(
        () => link.click(),
        () => page.getByRole('region', { name: 'Turn 1: content' }).locator('ins').first().waitFor(),
      ),
    }
  } finally {
    await context.close()
  }
}

function tableOf(all: readonly GridTimes[]): string {
  const names: Record<keyof GridTimes, string> = {
    open: `The grid of ${count} saved conversations is opened`,
    run: 'All of them are run',
    filter: 'The one that fails is left',
    compare: 'Its answer is compared word by word',
  }
  const row = (what: string, values: number[], goal: string) =>
    `| ${what} | ${percentile(values, 0.5).toFixed(0)} | ${Math.max(...values).toFixed(0)} | ${goal} |`
  const sums = all.map(({ open, run, filter, compare }) => open + run + filter + compare)
  return [
    measuredOn(availableParallelism(), cpus()[0]?.model.trim() ?? ''),
    '',
    `| ms, of ${all.length} rounds | median | slowest | goal |`,
    '|---|---|---|---|',
    ...Object.entries(names).map(([name, what]) =>
      row(
        what,
        all.map((times) => times[name as keyof GridTimes]),
        '',
      ),
    ),
    row('All of it', sums, '≤ 20,000'),
  ].join('\n')
}

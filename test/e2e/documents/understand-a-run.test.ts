import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocks, commandsOf } from '../../support/guides.ts'
import { command, createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

/** The agents of the guide: what a model would say is fixed, and its tool fails. */
const config = `
import { agent, defineConfig, team, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
const usage = (input_tokens, output_tokens) => ({ usage: { input_tokens, output_tokens } })
const asks = { tool_calls: [{ name: 'exchange_rate', input: { currency: 'USD' }, call_id: 'scripted-1' }], ...usage(371, 15) }
const says = { text: 'Abroad it is 60 euros [1]. I could not get the rate of the dollar.', ...usage(402, 19) }
const script = scriptedModel(({ prompt }) => (prompt.at(-1).role === 'tool' ? says : asks))
const exchange_rate = tool({
  inputSchema: z.object({ currency: z.string() }),
  execute() { throw new Error('the bank did not answer') },
})
export default defineConfig({
  agents: {
    docs: agent({
      model: Object.assign(script, { provider: 'ollama', modelId: 'qwen3:8b' }),
      instructions: 'Answer from the passages; cite them.',
      knowledge: { limit: 2 },
      tools: { exchange_rate },
    }),
    writer: agent({ run: () => 'Dear all, abroad you get 60 euros a day.' }),
  },
  teams: { desk: team({ mode: 'sequence', members: ['docs', 'writer'] }) },
})
`

const travel = `# Travel

## Daily allowance

The daily allowance is 40 euros at home and 60 euros abroad. It covers meals, not the hotel.

## Receipts

Hand in the receipts of a journey within thirty days.
`

const guide = blocks.filter(({ place }) => place.startsWith('docs/understand-a-run.md:'))
const question = guide.flatMap(({ text }) => / --message "([^"]+)"/.exec(text)?.[1] ?? [])

/** The commands whose output the guide shows, with that output. */
const shown = guide.flatMap(({ place, language, text, after }) => {
  const output = /^\n+```text\n(.*?)\n```\n/s.exec(after)?.[1]
  return language === 'sh' && output !== undefined ? [{ place, line: commandsOf(text).at(-1) ?? '', output }] : []
})

let project: Project
let server: RunningServer
const ids: Record<string, string> = {}

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config, 'docs/travel.md': travel })
  server = await serve(project, 'start')
  expect((await command(project, ['ingest', 'docs'])).code).toBe(0)
  ids.run_01m8y3c9pj5t0q2v7wkd4hx6ag = await ask('docs', question[0] ?? '')
  await ask('desk', 'Write to all about the daily allowance abroad')
  const { stdout } = await command(project, ['runs', 'list', '--agent', 'writer', '--json'])
  ids.run_01m8y3c9pk7u1r3w8xme5jy7bh = JSON.parse(stdout).run_id
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

async function ask(agentId: string, input: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ input })
  const answer = await fetch(`${server.url}/api/v1/agents/${agentId}/run`, { method: 'POST', headers, body })
  return ((await answer.json()) as { run_id: string }).run_id
}

/** Lines without what differs each time: ids, addresses, moments, durations, scores, numbers of events and the spaces between columns. */
function linesOf(text: string): string[] {
  const masked = text
    .replace(/\b(run|ses|call)_\w{26}\b/g, '$1')
    .replace(/127\.0\.0\.1:\d+/g, 'here')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'at')
    .replace(/\b\d+(?:\.\d+)? m?s\b/g, 'time')
    .replace(/\d\.\d{2,3}/g, 'score')
    .replace(/"duration_ms":\d+/g, '"duration_ms":0')
    .replace(/^ *\d+ +time/gm, 'time')
  return masked
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
}

test('the guide asks one question and shows what four commands print', () => {
  expect(question).toHaveLength(1)
  expect(shown.map(({ line }) => line.replace(/run_\w+/, 'run'))).toEqual([
    'npx agentserve runs show run',
    'npx agentserve runs show run --why',
    'npx agentserve runs show run --events',
    'npx agentserve runs show run',
  ])
})

test.each(shown)('$place prints the lines that the guide shows, in their order: $line', async ({ line, output }) => {
  const args = line.replace(/run_\w+/, (id) => ids[id] ?? 'an unknown id').split(' ')
  const { stdout, code } = await command(project, args.slice(2))
  expect(code).toBe(0)
  const printed = linesOf(stdout)
  const wanted = linesOf(output)
  let from = 0
  for (const one of wanted) {
    const at = printed.indexOf(one, from)
    expect(at, `${one}\nis not, or not in its place, in\n${printed.join('\n')}`).toBeGreaterThanOrEqual(from)
    from = at + 1
  }
})

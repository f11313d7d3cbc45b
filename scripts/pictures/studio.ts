import { tool } from 'ai'
import { z } from 'zod'
import { agent } from '../../src/runnables/agent/agent.ts'
import { type Script, type ScriptedAnswer, scriptedModel } from '../../src/testing/index.ts'
import type { TestBrowser } from '../../test/support/browser/browser.ts'
import { nothingWrong, visit } from '../../test/support/browser/visit.ts'
import { type RunningTestServer, startServer } from '../../test/support/server.ts'
import { replayPicture } from './studio-replay.ts'
import { testsPicture } from './studio-tests.ts'
import { watchPicture } from './studio-watch.ts'

const desk = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }

const question = 'What is the daily allowance abroad?'
const answer = `Abroad the daily allowance is **60 euros** [1].

| Where | A day |
|---|---|
| at home | 40 € |
| abroad | 60 € |

That is about 64 dollars today. Hand in the receipts within thirty days [2].`

const short = 'Abroad the daily allowance is **60 euros** [1].'

const documents: Readonly<Record<string, string>> = {
  'docs/travel.md': `# Travel

## Daily allowance

The daily allowance is 40 euros at home and 60 euros abroad. It covers meals, not the hotel.

## Booking

Book trains in second class, and flights only beyond 600 kilometres.
`,
  'docs/receipts.md': `# Receipts

## When to hand them in

Hand in the receipts of a journey abroad or at home within thirty days. The daily allowance needs none.
`,
  'docs/equipment.md': `# Equipment

## Laptops

A laptop is replaced after four years, abroad as at home. Ask the help desk.
`,
}

/** The scenes by the names of their pictures. */
const scenes = {
  'studio.png': { viewport: desk, colorScheme: 'light', opens: 'passages' },
  'studio-dark.png': { viewport: desk, colorScheme: 'dark', opens: 'prompt' },
  'studio-again.png': { viewport: desk, colorScheme: 'light', opens: 'again' },
  'studio-phone.png': { viewport: phone, colorScheme: 'light', opens: 'conversation' },
} as const

type Scene = (typeof scenes)[keyof typeof scenes]

export const studioSizes: Readonly<Record<string, { width: number; height: number }>> = {
  ...Object.fromEntries(Object.entries(scenes).map(([name, { viewport }]) => [name, viewport])),
  'studio-replay.png': desk,
  'studio-tests.png': desk,
  'studio-watch.png': desk,
}

/**
 * The pictures of the studio by name: a conversation that is played once, with fixed texts, in the real page. They differ in
 * ids and times each time, so that no digest of them can be kept; a scene that can't be played any more throws.
 */
export async function studioPictures(chromium: TestBrowser): Promise<Record<string, Uint8Array>> {
  const server = await startServer({ studio: { again: true } }, agents())
  try {
    const places = await play(server)
    const pictures: Record<string, Uint8Array> = {}
    for (const [name, scene] of Object.entries(scenes)) pictures[name] = await take(chromium, server, places, scene)
    const sessionId = places.conversation.replace('/s/', '')
    pictures['studio-replay.png'] = await replayPicture(chromium, server, sessionId, desk)
    pictures['studio-tests.png'] = await testsPicture(chromium, desk)
    pictures['studio-watch.png'] = await watchPicture(chromium, desk)
    return pictures
  } finally {
    await server.close()
  }
}

async function take(
  chromium: TestBrowser,
  { url }: RunningTestServer,
  places: Readonly<Record<Scene['opens'], string>>,
  { opens, ...look }: Scene,
): Promise<Uint8Array> {
  const { page, end } = await visit(chromium, url, `/studio${places[opens]}`, { ...look, reducedMotion: 'reduce' })
  await page.locator('strong', { hasText: '60 euros' }).first().waitFor()
  for (const text of shown[opens]) await page.getByText(text).first().waitFor()
  await page.mouse.move(0, 0)
  await page.evaluate('document.activeElement.blur()')
  const png = await page.screenshot({ animations: 'disabled' })
  const wrong = await end()
  if (JSON.stringify(wrong) !== JSON.stringify(nothingWrong))
    throw new Error(`The page complains: ${JSON.stringify(wrong)}`)
  return png
}

/** What each has in sight, besides the answer. */
const shown: Readonly<Record<Scene['opens'], readonly (string | RegExp)[]>> = {
  passages: [/docs\/travel\.md/, /docs\/receipts\.md/, 'exchange_rate'],
  prompt: ['Answer from the passages; cite them.', 'exchange_rate'],
  again: [/^Tokens out$/, 'B · again'],
  conversation: ['Hand in the receipts within thirty days'],
}

interface Started {
  run_id: string
  session_id: string
}

/** Fills the server, and gives the address below `/studio` of what each scene opens. */
async function play({ call }: RunningTestServer): Promise<Record<Scene['opens'], string>> {
  for (const [source, content] of Object.entries(documents))
    await call('POST', '/api/v1/knowledge/content', { source, content })
  const ask = async (agentId: string, input: string, session_id?: string) =>
    (await call('POST', `/api/v1/agents/${agentId}/run`, { input, session_id })).json as Started
  await ask('calendar', 'When does the office open in winter?')
  await ask('handbook', 'When do I get a new laptop?')
  await ask('calendar', 'Plan the week of the fair')
  await ask('refunds', 'Please refund order 4711')
  const { session_id } = await ask('handbook', 'Which trains may I book?')
  const { run_id } = await ask('handbook', question, session_id)
  const { text } = await call('GET', `/api/v1/runs/${run_id}/events`)
  const events = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data) as Event)
  const session = `/s/${session_id}`
  const again = { edit: { instructions: 'Answer in one sentence.' }, after: 'recorded' }
  const { runs } = (await call('POST', `/api/v1/runs/${run_id}/again`, again)).json as { runs: Started[] }
  const at = (type: string) => `${session}/r/${run_id}/e/${events.findLast((event) => event.type === type)?.seq}`
  return {
    conversation: session,
    again: `/again/${run_id}?try=${runs[0]?.run_id}`,
    passages: `${at('retrieval')}?view=passages`,
    // Of the later calls only what is new is unfolded.
    prompt: `${session}/r/${run_id}/e/${events.find(({ type }) => type === 'model_call_start')?.seq}?view=prompt`,
  }
}

interface Event {
  type: string
  seq: number
}

/** Agents that answer with fixed words, in times that a local model takes. */
function agents(): Record<string, object> {
  const after = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds))
  const usage = (input: number, output: number) => ({ usage: { input_tokens: input, output_tokens: output } })
  const said = async (milliseconds: number, full: ScriptedAnswer) => {
    await after(milliseconds)
    return full
  }
  const exchange_rate = tool({
    description: 'The rate of today.',
    inputSchema: z.object({ from: z.string(), to: z.string() }),
    async execute() {
      await after(90)
      return { rate: 1.07 }
    },
  })
  const refund = tool({
    description: 'Gives the money of an order back.',
    inputSchema: z.object({ order: z.number(), amount: z.number() }),
    execute: () => 'done',
  })
  const rate = { tool_calls: [{ name: 'exchange_rate', input: { from: 'EUR', to: 'USD' } }] }
  return {
    handbook: agent({
      instructions: 'Answer from the passages; cite them.',
      knowledge: { limit: 3 },
      tools: { exchange_rate },
      model: named(({ prompt, text }) => {
        if (text.includes('new laptop')) return said(120, { text: 'After four years [1].', ...usage(610, 9) })
        if (text.includes('Which trains')) return said(180, { text: 'Those in second class [1].', ...usage(604, 8) })
        const isShort = JSON.stringify(prompt).includes('one sentence')
        if (prompt.at(-1)?.role === 'tool' && isShort) return said(240, { text: short, ...usage(731, 14) })
        if (prompt.at(-1)?.role === 'tool') return said(420, { text: answer, ...usage(742, 61) })
        return said(260, { ...rate, ...usage(688, 21) })
      }),
    }),
    calendar: agent({
      description: 'Opening hours and dates.',
      async *run({ text }) {
        if (text.startsWith('Plan')) throw new Error('The calendar of that week is locked.')
        yield 'From November to March the office opens at nine.'
      },
    }),
    refunds: agent({
      tools: { refund },
      toolApproval: { refund: 'user-approval' },
      model: named(() => ({ tool_calls: [{ name: 'refund', input: { order: 4711, amount: 240 } }] })),
    }),
  }
}

/** Shown under the name that the documents give to a local model. */
function named(script: Script) {
  return Object.assign(scriptedModel(script), { provider: 'ollama', modelId: 'qwen3:8b' })
}

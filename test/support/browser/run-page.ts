import type { Locator, Page } from 'playwright-core'
import type { EmittedEvent } from '../../../src/core/event.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import type { RunningTestServer } from '../server.ts'
import type { TestBrowser } from './browser.ts'
import { visit } from './visit.ts'

const usage = {
  input_tokens: 1204,
  output_tokens: 96,
  total_tokens: 1300,
  cached_input_tokens: 1000,
  reasoning_tokens: 20,
}

/** A call of a model that has a price; `between` its two words. */
export async function* modelCall(call_id: string, between?: () => Promise<void>): AsyncGenerator<EmittedEvent> {
  yield { type: 'model_call_start', call_id, model: 'openai/gpt-5' }
  yield { type: 'text_delta', text: 'from ' }
  await between?.()
  yield { type: 'text_delta', text: 'inside' }
  yield { type: 'model_call_end', call_id, usage, finish_reason: 'stop', duration_ms: 5, first_text_ms: 1 }
}

/** One call of a model. */
export const right = agent({ run: () => modelCall('r') })

/** A step in a step, the run of `right`, a question to a person, a step. */
export const asks = workflow({
  async run({ step, ask, approve }) {
    await step('prepare', () => step('read', () => 1))
    await ask('right', 'x')
    await approve('Shall it be sent?')
    return step('send', () => 'sent')
  },
})

export const grid = (page: Page): Locator => page.getByRole('treegrid')
export const row = (page: Page, name: RegExp): Locator => grid(page).getByRole('row', { name })

interface Begun {
  run_id: string
  session_id: string
}

/** Begins a run in the background. */
export async function begin({ call }: RunningTestServer, id: string): Promise<Begun> {
  return (await call('POST', `/api/v1/agents/${id}/run`, { input: 'go', background: true })).json
}

export async function statusOf({ call }: RunningTestServer, { run_id }: Begun): Promise<string> {
  return (await call('GET', `/api/v1/runs/${run_id}`)).json.status
}

/** The page of the run. */
export function openRun(chromium: TestBrowser, { url }: RunningTestServer, { session_id, run_id }: Begun, more = '') {
  return visit(chromium, url, `/studio/s/${session_id}/r/${run_id}${more}`)
}

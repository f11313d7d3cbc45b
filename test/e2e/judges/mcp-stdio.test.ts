import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { mcpClients, type Program, startHost } from '../../judges/mcp-stdio.ts'
import { bin, command, createProject, environment, type Project } from '../../support/program.ts'

const config = `
import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
const model = scriptedModel(({ text, prompt }) =>
  prompt.at(-1).role === 'tool'
    ? 'after: ' + JSON.stringify(prompt.at(-1).content.map(({ output }) => output.value ?? output.type))
    : { tool_calls: [{ name: 'send', input: { to: text } }] })
const send = tool({ description: 'Sends', inputSchema: z.object({ to: z.string() }), execute: ({ to }) => 'sent to ' + to })
export default defineConfig({
  knowledge: { sources: ['docs'] },
  agents: {
    mail: agent({ description: 'Writes mail', model, tools: { send }, toolApproval: { send: 'user-approval' } }),
    steady: agent({ sideEffects: false, async *run({ text, signal }) {
      for (let n = 0; n < 6; n++) { yield { type: 'step_start', step_id: 's' + n, name: 'part ' + n }; await new Promise((r) => setTimeout(r, 300)); yield { type: 'step_end', step_id: 's' + n, status: 'completed', duration_ms: 300 } }
      yield 'steady ' + text
    } }),
    endless: agent({ sideEffects: false, async *run({ signal }) { yield 'begun'; await new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason))) } }),
  },
})`

let project: Project
let program: Program
beforeAll(async () => {
  project = await createProject({
    'agent.config.ts': config,
    'docs/zebra.md': '# Zebra\n\nThe zebra grazes at noon.\n',
  })
  program = {
    command: process.execPath,
    args: [bin, 'mcp', '--folder', project.folder],
    cwd: '/',
    env: environment({}),
  }
})
afterAll(() => project.remove())

describe.each(mcpClients)('%s', (name) => {
  const start = async (options?: Parameters<typeof startHost>[2]) => {
    const host = await startHost(name, program, options)
    onTestFinished(() => host.close())
    return host
  }

  it('lists tools, searches, fetches and reads, from another folder', async () => {
    const host = await start()
    const all = ['search', 'fetch', 'ask_endless', 'ask_mail', 'ask_steady', 'get_run', 'answer_run', 'cancel_run']
    expect(await host.tools()).toEqual(all)
    const { content } = await host.call('search', { query: 'zebra' })
    const [{ id, url } = { id: '', url: '' }] = JSON.parse(content[0]?.text ?? '').results
    expect(JSON.parse((await host.call('fetch', { id })).content[0]?.text ?? '').text).toContain('grazes at noon')
    expect(await host.resources()).toEqual([url])
    expect(await host.read(url)).toContain('grazes at noon')
  })

  it('tells the progress of a run while it works', async () => {
    const host = await start()
    const steps: { progress: number; message?: string }[] = []
    const { content } = await host.call('ask_steady', { message: 'now' }, { onprogress: (step) => steps.push(step) })
    expect(content[0]?.text).toBe('steady now')
    expect(steps.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['working on part 1', 'working on part 2']),
    )
    const numbers = steps.map(({ progress }) => progress)
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
  })

  it('hands back a run that takes longer than the host waits, and takes its answer up again', async () => {
    const host = await start()
    const { structuredContent } = await host.call('ask_steady', { message: 'late', wait_seconds: 1 })
    expect(structuredContent).toMatchObject({ status: 'running' })
    const { content } = await host.call('get_run', { run_id: structuredContent?.run_id })
    expect(content[0]?.text).toBe('steady late')
  })

  it('cancels a run when its call is cancelled', async () => {
    const host = await start()
    const left = new AbortController()
    const call = host.call('ask_endless', { message: 'x' }, { signal: left.signal, onprogress: () => left.abort() })
    await expect(call).rejects.toThrow()
    const newest = async () => {
      const { stdout } = await command(project, ['runs', 'list', '--json'])
      return JSON.parse(stdout.split('\n')[0] ?? '{}')
    }
    await expect.poll(newest, { timeout: 20_000 }).toMatchObject({ entity_id: 'endless', status: 'cancelled' })
  })

  it.each([
    ['accept', { approved: true }, 'sent to'],
    ['accept', { approved: false }, 'denied'],
    ['decline', undefined, 'denied'],
  ] as const)('puts an approval to the person: %s %j', async (action, content, said) => {
    const asked: string[] = []
    const host = await start({
      elicit(question) {
        asked.push(question.message)
        return { action, ...(content && { content }) }
      },
    })
    const answer = await host.call('ask_mail', { message: 'ann' })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain('ann')
    expect(answer.structuredContent).toMatchObject({ status: 'completed' })
    expect(answer.content[0]?.text).toContain(said)
  })

  it('leaves the run waiting when the person dismisses the question or the host can not ask', async () => {
    const dismissed = await (await start({ elicit: () => ({ action: 'cancel' }) })).call('ask_mail', { message: 'bob' })
    const host = await start()
    const unasked = await host.call('ask_mail', { message: 'bob' })
    for (const { structuredContent, content } of [dismissed, unasked]) {
      expect(structuredContent).toMatchObject({ status: 'input_required' })
      expect(content.map(({ text }) => text).join()).toContain('A person must decide')
    }
    const runId = String(unasked.structuredContent?.run_id)
    expect(await host.call('answer_run', { run_id: runId })).toMatchObject({ isError: true })
    expect((await command(project, ['runs', 'resume', runId, '--approve'])).code).toBe(0)
    expect((await host.call('get_run', { run_id: runId })).content[0]?.text).toContain('sent to bob')
  })
})

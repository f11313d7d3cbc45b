import { createProject, serve } from './program.ts'

/** Agents that pause: `asks` for input by a schema, `acts` for what its input names. */
const config = `
import { agent, defineConfig, tool } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'
import { z } from 'zod'
const act = tool({ inputSchema: z.object({}), execute: async () => 'acted' })
const model = scriptedModel(({ text, prompt }) => {
  const last = prompt.at(-1)
  if (last.role === 'tool') return 'Told: ' + JSON.stringify(last.content.flatMap(({ output }) => output ?? []))
  const names = text.split(' ').filter((word) => /^(wipe|send|pick|look)$/.test(word))
  return names.length === 0 ? text : { tool_calls: names.map((name) => ({ name, input: {}, call_id: 'use-' + name })) }
})
export default defineConfig({
  agents: {
    acts: agent({ model, tools: { wipe: act, send: act }, toolApproval: { wipe: 'user-approval', send: 'user-approval' } }),
    asks: agent({
      async *run({ text, resumed }) {
        if (resumed !== undefined) yield 'It is ' + JSON.stringify(resumed.input)
        else if (text === 'ask') yield { type: 'input_required', prompt: 'How many?', schema: { type: 'integer' } }
        else yield 'Said ' + text
      },
    }),
  },
})
`

export interface WaitingRun {
  run_id: string
  session_id: string
}

/** A server with these agents; `ask` gives the paused run. */
export async function serveWaiting() {
  const project = await createProject({ 'agent.config.ts': config })
  const server = await serve(project, 'start')
  const parameters = { type: 'object' }
  const client_tools = [
    { name: 'pick', parameters },
    { name: 'look', parameters },
  ]
  return {
    project,
    url: server.url,
    async ask(agentId: string, input: string, background = false): Promise<WaitingRun> {
      const answer = await fetch(`${server.url}/api/v1/agents/${agentId}/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input, background, ...(agentId === 'acts' && { client_tools }) }),
      })
      return (await answer.json()) as WaitingRun
    },
    async close() {
      await server.stop()
      await project.remove()
    },
  }
}

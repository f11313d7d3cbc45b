import { tool } from 'ai'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { type RunningTestServer, startServer } from '../server.ts'

export interface Begun {
  session_id: string
  run_id: string
}

export interface WholeStudio {
  server: RunningTestServer
  /** A run in a session of its own, which has ended or waits when this does. */
  ask(agentId: string, input: string): Promise<Begun>
  /** One that is under way. */
  begin(agentId: string): Promise<Begun>
  /** What `slow` says next. */
  say(text: string): void
  /** `slow` has said all. */
  finish(): void
}

const hours =
  '# Hours\n\n## Winter\n\nFrom November to March the office opens at nine.\n\n## Summer\n\nIn summer it opens at eight.\n'

/** A server with something for each page of the studio: documents, agents that answer, cite, wait, work together and take their time. */
export async function startWholeStudio(): Promise<WholeStudio> {
  let next = Promise.withResolvers<void>()
  let words: string[] = []
  let isOver = false
  const wake = () => {
    next.resolve()
    next = Promise.withResolvers()
  }
  const server = await startServer(
    {},
    {
      desk: agent({
        description: 'Knows when the office opens.',
        model: scriptedModel(() => 'It opens at **nine** in winter [1].'),
        knowledge: { limit: 2 },
      }),
      refunds: agent({
        description: 'Gives money back.',
        model: scriptedModel(({ prompt }) =>
          prompt.at(-1)?.role === 'tool'
            ? 'Your money is on its way.'
            : { tool_calls: [{ name: 'refund', input: { order: 4711 } }] },
        ),
        tools: {
          refund: tool({ description: 'Pays.', inputSchema: z.object({ order: z.number() }), execute: () => 'done' }),
        },
        toolApproval: { refund: 'user-approval' },
      }),
      both: team({ mode: 'parallel', members: ['desk', 'echo'] }),
      slow: agent({
        async *run() {
          while (!isOver) {
            if (words.length === 0) await next.promise
            const said = words
            words = []
            yield* said
          }
        },
      }),
    },
  )
  await server.call('POST', '/api/v1/knowledge/content', { name: 'docs/hours.md', content: hours, chunk_size: 80 })
  return {
    server,
    ask: async (agentId, input) => (await server.call('POST', `/api/v1/agents/${agentId}/run`, { input })).json,
    begin: async (agentId) => {
      isOver = false
      const body = { input: 'go', background: true }
      return (await server.call('POST', `/api/v1/agents/${agentId}/run`, body)).json
    },
    say: (text) => {
      words.push(text)
      wake()
    },
    finish: () => {
      isOver = true
      wake()
    },
  }
}

import { expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { ask } from '../../../support/cluster/requests.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { openRaw, rawWays } from '../../../support/protocols/raw-streams.ts'

const config = `
import { agent, defineConfig } from 'agentserve'

const { LISTEN_URL } = process.env
export default defineConfig({
  server: {
    storage: { type: 'postgres', schema: 'agents', listenUrl: LISTEN_URL },
    auth: { keys: ['ann', 'ben'].map((userId) => ({ key: 'the-key-of-' + userId + '-0001', userId })) },
  },
  agents: {
    many: agent({
      async *run({ text }) { for (let n = 0; n < Number(text.split('-')[1]); n++) yield 'fragment ' + n + '. ' },
    }),
    secret: agent({
      async *run({ signal }) {
        yield 'a secret'
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      },
    }),
  },
})
`
const of = (user: string) => ({ authorization: `Bearer the-key-of-${user}-0001` })

describePostgres('protocols of two instances with keys', () => {
  let [a, b] = [] as unknown as [Instance, Instance]
  ownInstances({ names: ['a', 'b'], config }, (all) => {
    ;[a, b] = all
  })

  test("show nothing of another user's run, at either instance", async () => {
    const stream = await openRaw(a.url, 'useChat', 'secret', 'of-ann', of('ann'))
    await expect.poll(() => stream.frames().join('')).toContain('a secret')
    const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const thread = { threadId: 'of-ann', runId: 'r1', messages: [{ id: 'm', role: 'user', content: 'hi' }] }
    for (const { url } of [a, b]) {
      const as = (user: string) => async (path: string, body?: object) => {
        const answer = await ask(url, path, { headers: of(user), ...(body && { body }) })
        return [answer.status, answer.body?.error?.code, JSON.stringify(answer.body)] as const
      }
      const [asAnn, asBen] = [as('ann'), as('ben')]
      const answers = [
        [await asBen('/chat/secret/of-ann'), 404, undefined],
        [await asBen('/chat/secret/of-ann/stream'), 204, undefined],
        [await asBen('/chat/secret/of-ann/stop', {}), 200, undefined],
        [await asBen('/ag-ui/secret/threads/of-ann'), 404, 'session_not_found'],
        [await asBen('/ag-ui/secret', thread), 404, 'session_not_found'],
        [await asBen('/a2a/agents/secret', rpc('GetTask', { id: stream.runId })), 200, -32001],
        [await asBen('/a2a/agents/secret', rpc('CancelTask', { id: stream.runId })), 200, -32001],
        [await asBen('/a2a/agents/secret', rpc('tasks/get', { id: stream.runId })), 200, -32001],
        [await asBen('/a2a/agents/secret', rpc('SubscribeToTask', { id: stream.runId })), 200, -32001],
        [await asBen(`/a2a/agents/secret/tasks/${stream.runId}`), 404, 404],
        [
          await asBen('/a2a/agents/secret', rpc('SendMessage', { message: { ...message, contextId: 'of-ann' } })),
          200,
          -32602,
        ],
      ] as const
      for (const [[status, code, text], wantedStatus, wantedCode] of answers) {
        expect([status, code, text]).toEqual([wantedStatus, wantedCode, expect.not.stringContaining('a secret')])
      }
      const [status, , text] = await asAnn('/chat/secret/of-ann')
      expect([status, JSON.parse(text).activeRunId]).toEqual([200, stream.runId])
    }
    await ask(b.url, '/chat/secret/of-ann/stop', { headers: of('ann'), body: {} })
    await stream.ended
    expect(stream.frames().join('')).toContain('{"type":"abort","reason":"requested"}')
  })

  test('stream ten thousand fragments from the other instance, in ten times the time of a thousand', {
    timeout: 120_000,
  }, async () => {
    for (const way of rawWays) {
      const timed = async (count: number) => {
        const name = `${way.replaceAll(/\W/g, '')}-${count}`
        const read = async ({ url }: Instance) => {
          const stream = await openRaw(url, way, 'many', name, of('ann'))
          await stream.ended
          return stream.frames()
        }
        const live = await read(a)
        expect(
          live.filter((frame) => frame.includes('fragment ')),
          way,
        ).toHaveLength(count)
        let best = Number.POSITIVE_INFINITY
        for (let tries = 0; tries < 3; tries++) {
          const begun = performance.now()
          expect(await read(b)).toEqual(live)
          best = Math.min(best, performance.now() - begun)
        }
        return best
      }
      const [few, many] = [await timed(1_000), await timed(10_000)]
      // What grows with the square would take a hundred times as long.
      expect([way, many < 50 * few]).toEqual([way, true])
    }
  })
})

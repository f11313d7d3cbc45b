import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectMcp, type McpClient, type McpReply } from '../../../judges/mcp.ts'
import { type Instance, type Instances, startInstances } from '../../../support/cluster/instances.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../../support/postgres/test-postgres.ts'

describePostgres('MCP hosts whose requests meet three servers in turn', () => {
  let place: Place
  let instances: Instances
  let all: readonly Instance[]

  beforeAll(async () => {
    place = await (await testPostgres()).newDatabase()
    instances = await startInstances({ url: place.url, schema: 'agents', names: ['a', 'b', 'c'] })
    all = instances.all
  })
  afterAll(async () => {
    await instances?.close()
    await place?.drop()
  })

  /** As a balancer without memory does it. */
  function connect(client: McpClient, elicit?: () => McpReply) {
    let requests = 0
    const inTurn = ((url: string | URL, init?: RequestInit) => {
      const { url: base } = all[requests++ % all.length] as Instance
      return fetch(new URL(new URL(url).pathname, base), init)
    }) as typeof fetch
    return connectMcp(client, { url: `${all[0]?.url}/mcp`, fetch: inTurn }, elicit === undefined ? {} : { elicit })
  }
  const textOf = ({ content }: { content: { text?: string }[] }) => content.map(({ text }) => text ?? '').join('')

  describe.each(['SDK 1', 'client 2 of 2026-07-28'] as const)('%s', (client) => {
    test('goes on with a session and a run on the next server', async () => {
      const mcp = await connect(client)
      try {
        const session_id = `mcp-${client.replaceAll(' ', '-')}`
        await mcp.call('ask_echo', { message: 'One', session_id })
        await mcp.call('ask_echo', { message: 'Two', session_id })
        expect(textOf(await mcp.call('ask_recall', { message: 'How many?', session_id }))).toMatch(/^4 /)
        const begun = await mcp.call('ask_ticking', { message: '150 10 late', wait_seconds: 1 })
        const run_id = String(begun.structuredContent?.run_id)
        expect(begun.structuredContent).toMatchObject({ status: 'running' })
        expect(textOf(await mcp.call('get_run', { run_id, wait_seconds: 30 }))).toContain('fragment 149. ')
        const waits = await mcp.call('ask_careful', { message: 'pay' })
        expect(waits.structuredContent).toMatchObject({ status: 'input_required' })
        expect(await mcp.call('cancel_run', { run_id: waits.structuredContent?.run_id })).toMatchObject({
          structuredContent: { status: 'cancelled' },
        })
      } finally {
        await mcp.close()
      }
    })
  })

  test('a person who is asked by one server answers another', async () => {
    const reply: McpReply = { action: 'accept', content: { approved: true } }
    const mcp = await connect('client 2 of 2026-07-28', () => reply)
    try {
      expect(textOf(await mcp.call('ask_careful', { message: 'pay' }))).toBe('It is paid.')
    } finally {
      await mcp.close()
    }
  })
})

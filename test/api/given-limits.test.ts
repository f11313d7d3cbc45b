import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningTestServer, startServer } from '../support/server.ts'

let server: RunningTestServer
beforeEach(async () => {
  server = await startServer({ limits: { metadata: '1KB', state: '2KB' } })
})
afterEach(() => server.close())

const text = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
const run = (more: object) => server.call('POST', '/api/v1/agents/echo/run', { input: 'hi', ...more })

describe('metadata and state of a caller', () => {
  it.each([
    ['metadata', 1024, '1 KB'],
    ['state', 2048, '2 KB'],
  ] as const)('are 400 over the limit, with the path: %s', async (name, bytes, shown) => {
    const { json: session } = await server.call('POST', '/api/v1/sessions', { [name]: text(bytes) })
    const path = `/api/v1/sessions/${session.session_id}`
    const all = async (value: object) => [
      await server.call('POST', '/api/v1/sessions', { [name]: value }),
      await server.call('PUT', path, { [name]: value }),
      await run({ [name]: value }),
      await run({ [name]: value, session_id: session.session_id }),
    ]
    for (const { status, json } of await all(text(bytes + 1))) {
      expect([status, json.error?.code]).toEqual([400, 'invalid_request'])
      expect(json.error.details[0]).toMatchObject({ path: name, message: expect.stringContaining(`is ${shown}.`) })
      expect(json.error.message).toContain(`\`server.limits.${name}\``)
    }
    for (const { status } of await all(text(bytes))) expect(status).toBeLessThan(300)
  })

  it('are 400 when a state that is merged makes too much of the present one', async () => {
    const { json: session } = await server.call('POST', '/api/v1/sessions', { state: { first: 'x'.repeat(1500) } })
    const { status, json } = await run({ state: { second: 'x'.repeat(1000) }, session_id: session.session_id })
    expect([status, json.error.details[0].path]).toEqual([400, 'state'])
    expect((await run({ state: { first: 'x' }, session_id: session.session_id })).status).toBe(200)
  })

  it('are imported and read as they are when they are larger', async () => {
    const { json: session } = await server.call('POST', '/api/v1/sessions', { metadata: text(500) })
    const copy = await server.call('GET', `/api/v1/sessions/${session.session_id}/export`)
    const larger = copy.text.replace(text(500).text, 'x'.repeat(5000))
    const headers = { 'content-type': 'application/x-ndjson' }
    const imported = await server.call('POST', '/api/v1/sessions/import?new_ids=true', larger, headers)
    expect(imported.status).toBe(201)
    const { json: list } = await server.call('GET', '/api/v1/sessions')
    const lengths = list.sessions.map(({ metadata }: { metadata: { text: string } }) => metadata.text.length)
    expect(lengths.sort()).toEqual([5000, text(500).text.length].sort())
  })
})

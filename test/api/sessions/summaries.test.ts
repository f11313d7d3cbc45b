import { afterEach, expect, it } from 'vitest'
import type { Summarizer } from '../../../src/core/summary.ts'
import { echo } from '../../support/services.ts'
import { openTestServer, type TestServer } from '../server.ts'

let server: TestServer
afterEach(() => server.close())

const path = '/api/v1/sessions/s/summary'

async function open(summarizer?: Summarizer) {
  server = await openTestServer({ entities: { echo }, ...(summarizer === undefined ? {} : { summarizer }) })
  await server.call('POST', '/api/v1/sessions', { session_id: 's' })
}

it('writes a summary at once, or in the background', async () => {
  const written = Promise.withResolvers<string>()
  await open({ name: 'test', summarize: () => written.promise })
  await server.call('POST', '/api/v1/agents/echo/run', { input: 'x', session_id: 's' })
  expect((await server.call('GET', path)).body.error.code).toBe('summary_not_found')
  expect(await server.call('POST', `${path}?async=True`)).toMatchObject({
    status: 202,
    body: { status: 'scheduled', session_id: 's' },
  })
  written.resolve('short')
  const made = await server.call('POST', `${path}?async=false`)
  expect(made).toMatchObject({ status: 200, body: { summary: { session_id: 's', content: 'short', model: 'test' } } })
  expect((await server.call('GET', path)).body).toEqual(made.body)
})

it('has empty content for a session without messages', async () => {
  await open({ name: 'test', summarize: async () => 'never asked' })
  expect((await server.call('POST', path)).body.summary).toMatchObject({ content: '', run_count: 0 })
})

it('is 501 to make and 404 to read without a manager', async () => {
  await open()
  expect((await server.call('POST', path)).body.error.code).toBe('summary_not_configured')
  expect((await server.call('POST', `${path}?async=1`)).status).toBe(501)
  expect((await server.call('GET', path)).body.error.code).toBe('summary_not_found')
  expect((await server.call('POST', `${path}?async=maybe`)).status).toBe(400)
})

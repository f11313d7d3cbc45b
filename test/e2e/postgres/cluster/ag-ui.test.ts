import { expect, test } from 'vitest'
import { openAgent, versions } from '../../../judges/ag-ui.ts'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { ask } from '../../../support/cluster/requests.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

describePostgres('a thread of three instances', () => {
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'] }, (all) => {
    ;[a, b, c] = all
  })

  const input = (threadId: string, runId: string, content: string) => ({
    ...{ threadId, runId, messages: [{ id: 'u1', role: 'user', content }] },
  })
  const post = (at: Instance, agent: string, body: object, signal?: AbortSignal) =>
    fetch(`${at.url}/api/v1/ag-ui/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  const plain = (stream: string) => stream.replaceAll(/: hb\n\n/g, '')
  const open = (at: Instance, agent: string, threadId: string, version: (typeof versions)[number]) =>
    openAgent(version, { url: `${at.url}/api/v1/ag-ui/${agent}`, threadId })

  test('is streamed by each of them, byte for byte, and found by all', async () => {
    const body = input('t1', 'r1', '150 10 told')
    const first = await post(a, 'ticking', body)
    const again = await post(b, 'ticking', body)
    expect(again.headers.get('x-run-id')).toBe(first.headers.get('x-run-id'))
    const connected = await open(c, 'ticking', 't1', '1.0.0')
    const following = connected.connectAgent()
    const whole = plain(await first.text())
    expect(plain(await again.text())).toBe(whole)
    expect(whole).toContain('"outcome":{"type":"success"}')
    expect(plain(await (await post(c, 'ticking', body)).text())).toBe(whole)
    await following
    expect(connected.messages).toMatchObject([{ id: 'u1' }, { content: expect.stringContaining('fragment 149. ') }])
    for (const at of [a, b, c]) {
      const other = await open(at, 'ticking', 't1', '0.0.59')
      await other.connectAgent()
      expect(other.messages).toEqual(connected.messages)
    }
  })

  test('goes on at another instance when its connection breaks', async () => {
    const body = input('t2', 'r1', '150 10 broken')
    const leaving = new AbortController()
    const first = await post(a, 'ticking', body, leaving.signal)
    const second = await post(b, 'ticking', body)
    leaving.abort()
    await first.body?.cancel().catch(() => {})
    expect(await second.text()).toContain('"outcome":{"type":"success"}')
    expect((await ask(c.url, `/runs/${second.headers.get('x-run-id')}`)).body.status).toBe('completed')
  })

  test('whose client has left ends its run', async () => {
    const leaving = new AbortController()
    const first = await post(a, 'ticking', input('t3', 'r1', '10000 10 left'), leaving.signal)
    leaving.abort()
    await first.body?.cancel().catch(() => {})
    const run = async () => (await ask(b.url, `/runs/${first.headers.get('x-run-id')}`)).body
    await expect.poll(async () => (await run()).status, { timeout: 15_000 }).toBe('cancelled')
    expect((await run()).cancellation_reason).toBe('client_disconnected')
  })

  test.each(versions)('waits for an approval, which %s sends to another instance, and twice', async (version) => {
    const threadId = `asks-${version}`
    const asked = await open(a, 'careful', threadId, version)
    await asked.say('pay', 'u1').runAgent()
    const resume = asked.pendingInterrupts.map(({ id }) => {
      return { interruptId: id, status: 'resolved' as const, payload: { approved: true } }
    })
    expect(resume.length).toBeGreaterThan(0)
    const answer = { ...input(threadId, 'r2', 'pay'), resume }
    const [one, two] = await Promise.all([post(b, 'careful', answer), post(c, 'careful', answer)])
    const [atB, atC] = [plain(await one.text()), plain(await two.text())]
    expect(atB).toContain('"type":"TOOL_CALL_RESULT"')
    expect(atC).toBe(atB)
    const other = await open(c, 'careful', threadId, version)
    await other.connectAgent()
    expect(other.pendingInterrupts).toEqual([])
    expect(other.messages.at(-1)?.role).toBe('assistant')
  })
})

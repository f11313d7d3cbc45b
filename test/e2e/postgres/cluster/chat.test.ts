import { expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { ask } from '../../../support/cluster/requests.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

describePostgres('a chat of three instances', () => {
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'] }, (all) => {
    ;[a, b, c] = all
  })

  const message = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
  const post = (at: Instance, agent: string, body: object) =>
    fetch(`${at.url}/api/v1/chat/${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const follow = (at: Instance, agent: string, chatId: string) =>
    fetch(`${at.url}/api/v1/chat/${agent}/${chatId}/stream`)
  const reload = async (at: Instance, agent: string, chatId: string) =>
    (await ask(at.url, `/chat/${agent}/${chatId}`)).body

  test('is streamed again by another instance, byte for byte, and reloaded by a third', async () => {
    const first = await post(a, 'ticking', { id: 'c1', messages: [message('u1', '150 10 told')] })
    const again = await follow(b, 'ticking', 'c1')
    expect(again.status).toBe(200)
    expect(again.headers.get('x-run-id')).toBe(first.headers.get('x-run-id'))
    const { activeRunId, messages } = await reload(c, 'ticking', 'c1')
    expect([activeRunId, messages.length]).toEqual([first.headers.get('x-run-id'), 1])
    const whole = await first.text()
    expect(whole.endsWith('data: [DONE]\n\n')).toBe(true)
    const plain = (stream: string) => stream.replaceAll(/: hb\n\n/g, '')
    expect(plain(await again.text())).toBe(plain(whole))
    expect((await follow(c, 'ticking', 'c1')).status).toBe(204)
    const answers = await Promise.all([a, b, c].map((at) => reload(at, 'ticking', 'c1')))
    expect(answers[0].messages[1].parts[1].text).toContain('fragment 149. ')
    for (const answer of answers) expect(answer).toEqual(answers[0])
  })

  test('is joined, stopped and interrupted from any of them', async () => {
    const first = await post(a, 'ticking', { id: 'c2', messages: [message('u1', '10000 10 long')] })
    const joined = await post(b, 'ticking', { id: 'c2', messages: [message('u1', '10000 10 long')] })
    expect(joined.headers.get('x-run-id')).toBe(first.headers.get('x-run-id'))
    const other = await post(c, 'ticking', { id: 'c2', messages: [message('u2', '10000 10 other')] })
    for (const stream of [first, joined]) {
      expect(await stream.text()).toContain('{"type":"abort","reason":"superseded"}\n\ndata: [DONE]')
    }
    const stopped = await ask(b.url, '/chat/ticking/c2/stop', { method: 'POST' })
    expect(stopped.body).toEqual({ success: true })
    expect(await other.text()).toContain('{"type":"abort","reason":"requested"}')
  })

  test('waits for an approval, which is sent to another instance and twice', async () => {
    await (await post(a, 'careful', { id: 'c3', messages: [message('u1', 'pay')] })).text()
    const { messages } = await reload(b, 'careful', 'c3')
    const card = messages[1].parts.find(({ state }: { state?: string }) => state === 'approval-requested')
    const decided = { ...card, state: 'approval-responded', approval: { ...card.approval, approved: true } }
    const answer = { id: 'c3', messages: [messages[0], { ...messages[1], parts: [decided] }] }
    const [one, two] = await Promise.all([post(b, 'careful', answer), post(c, 'careful', answer)])
    const [atB, atC] = await Promise.all([one?.text(), two?.text()])
    expect(atB).toContain(`data: {"type":"tool-output-available","toolCallId":"${card.toolCallId}"`)
    expect(atC).toBe(atB)
    const [, after] = (await reload(a, 'careful', 'c3')).messages
    expect(after.metadata.status).toBe('completed')
  })
})

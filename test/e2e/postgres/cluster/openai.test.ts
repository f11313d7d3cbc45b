import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openOpenAI, outputText, type ResponseEvent, textOf } from '../../../judges/openai.ts'
import { openCuttingProxy } from '../../../support/client/cutting-proxy.ts'
import { type Instance, type Instances, startInstances } from '../../../support/cluster/instances.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../../support/postgres/test-postgres.ts'

describePostgres('clients of OpenAI with three servers', () => {
  let place: Place
  let instances: Instances
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]

  beforeAll(async () => {
    place = await (await testPostgres()).newDatabase()
    instances = await startInstances({ url: place.url, schema: 'agents', names: ['a', 'b', 'c'] })
    ;[a, b, c] = instances.all as [Instance, Instance, Instance]
  })
  afterAll(async () => {
    await instances?.close()
    await place?.drop()
  })

  const whole = (count: number) => Array.from({ length: count }, (_, n) => `fragment ${n}. `).join('')

  describe.each([4, 7] as const)('openai %i', (version) => {
    const at = ({ url }: { url: string }) => openOpenAI(version, url)

    test.each(['stream', 'answer'])(
      'a retry after a cut before the %s joins the run on another server',
      async (kind) => {
        const proxy = await openCuttingProxy(a.url)
        onTestFinished(() => proxy.close())
        const headers = { 'X-Session-Id': `cut-${kind}-${version}` }
        const body = { model: 'ticking', messages: [{ role: 'user', content: `60 10 ${kind}${version}` }] }
        const { completions } = await openOpenAI(version, proxy.url, {
          // Its second request is the retry.
          fetch: (async (...given: Parameters<typeof fetch>) => {
            try {
              return await fetch(...given)
            } finally {
              proxy.leadTo(b.url)
            }
          }) as typeof fetch,
        })
        proxy.cutAfter(0)
        let text = ''
        if (kind === 'answer') text = textOf(await completions.create(body, { headers }))
        else {
          for await (const { choices } of await completions.create({ ...body, stream: true }, { headers }))
            text += choices[0]?.delta.content ?? ''
        }
        expect(text).toBe(whole(60))
        expect(proxy.hasCut).toBe(true)
        const { runs } = await c.client.runs.list({ session_id: headers['X-Session-Id'] })
        expect(runs).toMatchObject([{ status: 'completed' }])
      },
    )

    test('a stream goes on where it was left, on another server, and is polled and cancelled on a third', async () => {
      const body = { model: 'ticking', input: `80 10 on${version}`, background: true, stream: true as const }
      const first: ResponseEvent[] = []
      for await (const event of await (await at(a)).responses.create(body)) {
        first.push(event)
        if (event.type === 'response.output_text.delta') break
      }
      const id = first[0]?.response?.id ?? ''
      const starting_after = first.at(-1)?.sequence_number ?? 0
      const rest: ResponseEvent[] = []
      const tail = await (await at(b)).responses.retrieve(id, { stream: true, starting_after })
      for await (const event of tail) rest.push(event)
      const deltas = [...first, ...rest].filter(({ type }) => type === 'response.output_text.delta')
      expect(deltas.map(({ delta }) => delta).join('')).toBe(whole(80))
      expect(outputText(await (await at(c)).responses.retrieve(id))).toBe(whole(80))
      const long = await (await at(a)).responses.create({ model: 'ticking', input: '9000 10 long', background: true })
      expect(await (await at(b)).responses.cancel(long.id)).toMatchObject({ status: 'cancelled' })
      expect(await (await at(c)).responses.retrieve(long.id)).toMatchObject({ status: 'cancelled' })
    })

    test('an approval is given on another server, and the next response made on a third', async () => {
      const asked = await (await at(a)).responses.create({ model: 'careful', input: 'pay' })
      const approval_request_id = asked.output.at(-1)?.id
      const decision = { type: 'mcp_approval_response', approval_request_id, approve: true }
      const body = { model: 'careful', previous_response_id: asked.id, input: [decision] }
      const [atB, atC] = await Promise.all([b, c].map(async (one) => (await at(one)).responses.create(body)))
      expect(atB && outputText(atB)).toBe('It is paid.')
      expect(atC).toEqual(atB)
      const next = { model: 'recall', input: 'How many?', previous_response_id: atB?.id }
      const after = await (await at(c)).responses.create(next)
      expect(after.conversation).toEqual(asked.conversation)
      expect(outputText(after)).toMatch(/^2 /)
    })
  })
})

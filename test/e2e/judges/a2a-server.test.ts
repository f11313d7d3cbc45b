import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectA2A, type Dialect, dialects, type SeenEvent } from '../../judges/a2a.ts'
import { collect } from '../../support/collect.ts'
import { createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'
import { startReceiver } from '../../support/push-receiver.ts'

/* The program itself, judged by the published clients of A2A 1.0 and 0.3. */

let project: Project
let server: RunningServer
const of = (user: string) => ({ authorization: `Bearer the-key-of-${user}-0001` })

beforeAll(async () => {
  project = await createProject()
  await project.copy(join(root, 'test/judges/agents.config.ts'), 'agent.config.ts')
  server = await serve(project, 'dev', [], { JUDGES_KEYS: 'on' })
})
afterAll(async () => {
  await server?.stop()
  await project?.remove()
})

const connect = (dialect: Dialect, agent: string, user = 'ann') =>
  connectA2A(dialect, `${server.url}/api/v1/a2a/agents/${agent}/`, of(user))
const go = (file: string) => project.write(file, '')

/** The text that a reader of these events has, and the states that it saw. */
function fold(events: readonly SeenEvent[]) {
  let text = ''
  const states: string[] = []
  for (const event of events) {
    if (event.kind === 'task') text = event.text
    if (event.kind === 'artifact') text = event.append ? text + event.text : event.text
    if (event.kind !== 'artifact' && states.at(-1) !== event.state) states.push(event.state)
  }
  return { text, states }
}

describe.each(dialects)('the client of A2A %s', (dialect) => {
  const file = (name: string) => `${name}-${dialect.replaceAll(' ', '-')}`

  test('finds the agent and has its answer, once, in the session that it names', async () => {
    const client = await connect(dialect, 'forecast')
    expect(client.card).toMatchObject({ name: 'forecast', capabilities: { streaming: true } })
    const task = await client.send({ text: 'How warm is it?', messageId: file('once') })
    expect(task).toMatchObject({ state: 'completed', says: '' })
    expect(task.text).toMatch(/^One moment. It says .*"celsius":9/)
    expect(await client.get(task.id)).toEqual(task)
    expect(await client.send({ text: 'How warm is it?', messageId: file('once') })).toEqual(task)
    const next = await client.send({ text: 'And now?', contextId: task.contextId })
    expect(next.contextId).toBe(task.contextId)
    expect(next.id).not.toBe(task.id)
  })

  test('streams an answer: the task, its text in pieces, its end', async () => {
    const client = await connect(dialect, 'slow')
    await go(`${file('streams')}-1`)
    await go(`${file('streams')}-2`)
    const events = await collect(client.stream({ text: file('streams') }))
    expect(events[0]?.kind).toBe('task')
    const { text, states } = fold(events)
    expect(text).toBe('One two three.')
    expect(states.at(-1)).toBe('completed')
    expect(events.at(-1)).toMatchObject({ kind: 'status', final: dialect === '0.3' })
    expect(events.filter((event) => event.kind === 'artifact' && event.lastChunk)).toHaveLength(1)
  })

  test('leaves, and comes back to what was said meanwhile', async () => {
    const client = await connect(dialect, 'slow')
    let id = ''
    for await (const event of client.stream({ text: file('leaves') })) {
      if (event.kind === 'task') id = event.id
      if (event.kind === 'artifact' && event.text.includes('One')) break
    }
    await go(`${file('leaves')}-1`)
    await expect.poll(async () => (await client.get(id)).text).toBe('One two ')
    expect((await client.get(id)).state).toBe('working')
    const events: SeenEvent[] = []
    for await (const event of client.resubscribe(id)) {
      if (events.length === 0) await go(`${file('leaves')}-2`)
      events.push(event)
    }
    expect(fold(events)).toEqual({ text: 'One two three.', states: ['working', 'completed'] })
    await expect(collect(client.resubscribe(id))).rejects.toThrow()
  })

  test('does not wait when it says so, and cancels', async () => {
    const client = await connect(dialect, 'slow')
    const { id, state } = await client.send({ text: 'never' }, { wait: false })
    expect(['submitted', 'working']).toContain(state)
    expect(await client.cancel(id)).toMatchObject({ id, state: 'canceled' })
    expect(await client.get(id)).toMatchObject({ id, state: 'canceled' })
  })

  test.each([
    { answer: { data: { approved: true } }, state: 'completed', text: /Done: .*"paid":5/ },
    { answer: { text: 'approve' }, state: 'completed', text: /Done: .*"paid":5/ },
    { answer: { text: 'deny' }, state: 'completed', text: /Done: .*denied/ },
  ])('answers what a task waits for: $answer', async ({ answer, state, text }) => {
    const client = await connect(dialect, 'clerk')
    const asked = await client.send({ text: 'Refund me' })
    expect(asked).toMatchObject({ state: 'input-required', says: expect.stringMatching(/refund/) })
    expect(asked.asks).toEqual([expect.objectContaining({ call_id: expect.any(String) })])
    await expect(client.send({ text: 'What?', taskId: asked.id })).rejects.toThrow(/approve/)
    const done = await client.send({ ...answer, taskId: asked.id })
    expect(done).toMatchObject({ id: asked.id, contextId: asked.contextId, state })
    expect(done.text).toMatch(text)
  })

  test('closes its stream at a question, and streams the rest after the answer', async () => {
    const client = await connect(dialect, 'letter')
    const asked = await collect(client.stream({ text: 'we are closed.' }))
    expect(asked.at(-1)).toMatchObject({ kind: 'status', state: 'input-required', final: dialect === '0.3' })
    const [task] = asked
    if (task?.kind !== 'task') throw new Error('The first event is no task.')
    const events = await collect(client.stream({ data: { approved: true }, taskId: task.id }))
    expect(fold(events)).toMatchObject({ text: 'Sent: Dear reader, we are closed.' })
    expect(fold(events).states.at(-1)).toBe('completed')
  })

  test('has the states of a task posted to an address, and is never given its token back', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const client = await connect(dialect, 'slow')
    const { id } = await client.send({ text: file('pushes') }, { wait: false })
    await client.push(id, receiver.url, 'the-token-of-the-hook')
    const configs = await client.pushes(id)
    expect(configs).toHaveLength(1)
    expect(JSON.stringify(configs)).toContain(receiver.url)
    expect(JSON.stringify(configs)).not.toContain('the-token-of-the-hook')
    await go(`${file('pushes')}-1`)
    await go(`${file('pushes')}-2`)
    const posted = () => receiver.received.map(({ json }) => JSON.stringify(json))
    await expect.poll(() => posted().at(-1)).toMatch(dialect === '0.3' ? /"completed"/ : /"TASK_STATE_COMPLETED"/)
    expect(posted().join()).toContain('One two three.')
    expect(receiver.received[0]?.headers['x-a2a-notification-token']).toBe('the-token-of-the-hook')
  })

  test('reads a failure as one, with what was said before', async () => {
    const client = await connect(dialect, 'broken')
    const task = await client.send({ text: 'Bake' })
    expect(task).toMatchObject({ state: 'failed', text: 'Half ', says: expect.stringMatching(/agent threw an error/) })
  })

  test('does not find the task of another user, nor one that is not there', async () => {
    const ann = await connect(dialect, 'slow', 'ann')
    const ben = await connect(dialect, 'slow', 'ben')
    const { id, contextId } = await ann.send({ text: 'never' }, { wait: false })
    for (const foreign of [id, 'run_00000000000000000000000000']) {
      await expect(ben.get(foreign)).rejects.toThrow(/There is no task|Task not found/)
      await expect(ben.cancel(foreign)).rejects.toThrow(/There is no task|Task not found/)
      await expect(ben.send({ text: 'mine', taskId: foreign })).rejects.toThrow(/There is no task|Task not found/)
      await expect(collect(ben.resubscribe(foreign))).rejects.toThrow(/There is no task|Task not found/)
    }
    await expect(ben.send({ text: 'mine', contextId })).rejects.toThrow(/contextId|session|context/)
    expect(await ann.get(id)).toMatchObject({ state: 'working' })
    expect(await ann.cancel(id)).toMatchObject({ state: 'canceled' })
    await expect(connectA2A(dialect, `${server.url}/api/v1/a2a/agents/slow/`)).rejects.toThrow()
  })
})

test('a task whose server was killed has failed, for each client, with what was said', async () => {
  const own = await createProject()
  await own.copy(join(root, 'test/judges/agents.config.ts'), 'agent.config.ts')
  try {
    const first = await serve(own)
    const base = (url: string) => `${url}/api/v1/a2a/agents/slow/`
    const client = await connectA2A('1.0', base(first.url))
    const stream = client.stream({ text: 'killed' })
    let id = ''
    for await (const event of stream) {
      if (event.kind === 'task') id = event.id
      if (event.kind === 'artifact') break
    }
    await expect.poll(async () => (await client.get(id)).text).toBe('One ')
    await first.kill()
    const second = await serve(own)
    try {
      for (const dialect of dialects) {
        const again = await connectA2A(dialect, base(second.url))
        const task = await again.get(id)
        expect(task).toMatchObject({ state: 'failed' })
        expect('One ').toContain(task.text)
        await expect(collect(again.resubscribe(id))).rejects.toThrow()
      }
    } finally {
      await second.stop()
    }
  } finally {
    await own.remove()
  }
})

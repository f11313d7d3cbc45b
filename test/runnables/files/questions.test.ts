import { afterEach, expect, test } from 'vitest'
import type { GivenPart } from '../../../src/core/message.ts'
import type { Ask, Runnable } from '../../../src/core/runnable.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { closeAsking, saidBy, serveAsking } from '../asking.ts'

afterEach(closeAsking)

/** Reads the file that it was asked about, and waits. */
const careful = workflow({
  async run({ parts, files, approve }) {
    const [, file] = parts
    const bytes = file?.type === 'file' ? await files.read(file) : new Uint8Array()
    return `${Buffer.from(bytes)}: ${await approve('publish')}`
  },
})

const question = (content: string): GivenPart[] => [
  { type: 'text', text: 'Read this.' },
  { type: 'file', media_type: 'image/png', name: 'a.png', data: new Uint8Array(Buffer.from(content)) },
]

function parents(content: () => string): Record<string, Runnable> {
  const both = async ({ ask }: { ask: Ask }) => {
    const answers = [await ask('careful', question(content())), await ask('careful', question('last'))]
    return answers.map(({ text }) => text).join(', ')
  }
  return {
    'a workflow': workflow({ run: both }),
    'a generator': agent({
      async *run(context) {
        yield await both(context)
      },
    }),
  }
}

test.each(['a workflow', 'a generator'])(
  'a file in a question of %s is stored once and compared equal',
  async (name) => {
    const main = parents(() => 'first')[name] as Runnable
    const { run, resume, children, store } = await serveAsking({ main, careful })
    const { run_id: runId, status, error } = await run()
    expect({ status, error }).toEqual({ status: 'input_required', error: null })
    expect(await resume(runId, { approved: true, input: 'A' })).toMatchObject({ status: 'input_required', error: null })
    const record = await resume(runId, { approved: true, input: 'B' })
    expect({ said: saidBy(record), error: record.error }).toEqual({ said: 'first: A, last: B', error: null })
    const asked = await children(runId)
    expect(asked).toHaveLength(2)
    for (const { run_id } of asked) expect(await store.listFiles(run_id)).toHaveLength(1)
    expect(await store.listFiles(runId)).toEqual([])
  },
)

test.each(['a workflow', 'a generator'])('another file of the same size is another question of %s', async (name) => {
  let content = 'first'
  const main = parents(() => content)[name] as Runnable
  const { run, resume, children, store } = await serveAsking({ main, careful })
  const { run_id: runId } = await run()
  content = 'other'
  const { status, error } = await resume(runId, { approved: true, input: 'A' })
  expect(status).toBe(name === 'a workflow' ? 'interrupted' : 'failed')
  expect(error?.message).toContain("'careful' is asked something else")
  const [child] = await children(runId)
  expect(await store.listFiles(child?.run_id ?? '')).toHaveLength(1)
})

test('another file of the same size is sent after a pause, the same one is not', async () => {
  let drawn = 'second'
  const draw = (content: string) => question(content)[1] as GivenPart & { type: 'file'; data: Uint8Array }
  const main = agent({
    async *run({ ask }) {
      yield draw('first')
      yield draw(drawn)
      yield (await ask('careful', question('x'))).text
    },
  })
  const { run, resume, store } = await serveAsking({ main, careful })
  const { run_id: runId } = await run()
  drawn = 'third!'
  const { messages } = await resume(runId, { approved: true })
  expect(messages[1]?.parts.map(({ type }) => type).toSorted()).toEqual(['file', 'file', 'file', 'text'])
  expect(await store.listFiles(runId)).toHaveLength(3)
})

import { expect, test } from 'vitest'
import { runnable } from '../../../support/services.ts'
import { eventsOf, ResponseFold } from './fold.ts'
import { openResponses, textOf } from './support.ts'

const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='

test('files that come with a message are kept, and listed as its input', async () => {
  const { create, call, services } = await openResponses()
  const content = [
    { type: 'input_text', text: 'look' },
    { type: 'input_image', image_url: `data:image/png;base64,${dot}` },
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${btoa('%PDF-1.4')}` },
  ]
  const { id } = await create({ input: [{ role: 'user', content }] })
  const { messages } = await services.runs.get(`run_${id.slice(5)}`)
  expect(messages[0]?.parts).toMatchObject([
    { type: 'text', text: 'look' },
    { type: 'file', media_type: 'image/png', file_id: expect.stringMatching(/^file_/) },
    { type: 'file', media_type: 'application/pdf', name: 'a.pdf', file_id: expect.stringMatching(/^file_/) },
  ])
  const { data } = (await call('GET', `/responses/${id}/input_items`)).body
  expect(data[0].content).toMatchObject([
    { type: 'input_text', text: 'look' },
    { type: 'input_image', file_id: expect.stringMatching(/^file_/) },
    { type: 'input_file', filename: 'a.pdf' },
  ])
})

test('files that an agent makes are images, links and paths, live and later', async () => {
  const makes = runnable(async function* () {
    yield 'Here: '
    yield { type: 'file', media_type: 'image/png', name: 'dot.png', data: dot }
    yield { type: 'file', media_type: 'text/csv', name: 'a.csv', data: btoa('a,b') }
    yield { type: 'file', media_type: 'text/html', name: 'b.html', url: 'https://example.org/b.html' }
  })
  const { stream, get, create, replay } = await openResponses({ makes })
  const { text, response } = await stream({ model: 'makes', input: 'go' })
  expect(response.output).toMatchObject([
    { type: 'message' },
    { type: 'image_generation_call', result: dot, status: 'completed' },
    { type: 'message', content: [{ text: 'a.csv', annotations: [{ type: 'file_path', index: 0 }] }] },
    { type: 'message', content: [{ text: '[b.html](https://example.org/b.html)' }] },
  ])
  expect(await get(response.id)).toEqual(response)
  expect(await replay(response.id)).toBe(text)
  expect(textOf(await create({ model: 'makes', input: 'go' }))).toBe(textOf(response))
  expect(ResponseFold.of(eventsOf(text)).isOver).toBe(true)
})

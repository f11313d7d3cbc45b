import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeData, encodeEvent, heartbeat, parseSse, type SseEvent } from '../../src/core/sse.ts'

async function read(text: string, pieceBytes = 7, maxEventChars?: number): Promise<SseEvent[]> {
  const bytes = Buffer.from(text)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const events: SseEvent[] = []
  for await (const event of parseSse(pieces(), maxEventChars)) events.push(event)
  return events
}

describe('server-sent events', () => {
  test('are encoded as the wire wants them', () => {
    expect(encodeEvent({ id: 7, event: 'text_delta', data: { text: 'a\nb' } })).toBe(
      'id: 7\nevent: text_delta\ndata: {"text":"a\\nb"}\n\n',
    )
    expect(encodeData('x')).toBe('data: "x"\n\n')
  })

  test('come back as they were sent, whatever the text and wherever it is cut', async () => {
    const frame = fc.record({ id: fc.nat(), event: fc.constantFrom('run_end', 'tool_call'), data: fc.jsonValue() })
    await fc.assert(
      fc.asyncProperty(fc.array(frame), fc.integer({ min: 1, max: 30 }), async (frames, pieceBytes) => {
        const text = frames.map((one) => encodeEvent(one) + heartbeat()).join('')
        expect(await read(text, pieceBytes)).toEqual(
          frames.map(({ id, event, data }) => ({ id: String(id), event, data: JSON.stringify(data) })),
        )
      }),
    )
  })

  test.each(['\ndata: {"type":"done"}\n\n', '\r\rdata: 1\r\r', '\u2028data: 1', 'a\r\nevent: run_end'])(
    'can not be forged by the text %j',
    async (text) => {
      expect(await read(encodeData({ text }))).toEqual([{ data: JSON.stringify({ text }) }])
    },
  )

  test('are refused when one is too long', async () => {
    const long = encodeData('x'.repeat(2000))
    expect(await read(long, 7, 3000)).toHaveLength(1)
    await expect(read(encodeData(1) + long, 7, 1000)).rejects.toMatchObject({ code: 'payload_too_large' })
  })

  test.each([
    ['lines of all kinds', 'data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n', [{ data: '1' }, { data: '2' }, { data: '3' }]],
    ['several lines of data', 'data: a\ndata:  b\ndata\n\n', [{ data: 'a\n b\n' }]],
    [
      'fields without a space, of other names, and comments',
      ': x\nid:7\nretry: 1\nother\nevent:a:b\ndata:1\n\n',
      [{ id: '7', event: 'a:b', data: '1' }],
    ],
    ['no data', 'event: a\nid: 1\n\n\n\ndata: 1\n\n', [{ data: '1' }]],
    ['a mark of the byte order', '\ufeffdata: 1\n\n', [{ data: '1' }]],
  ])('are read with %s, wherever they are cut', async (_, text, events) => {
    for (const pieceBytes of [1, 2, 3, 5, 100]) expect(await read(text, pieceBytes)).toEqual(events)
  })

  test('that are cut off are not given', async () => {
    expect(await read('data: 1\n\ndata: 2\n')).toEqual([{ data: '1' }])
  })
})

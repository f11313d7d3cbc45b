import { expect, it } from 'vitest'
import { Lines } from '../../../src/cli/mcp/lines.ts'
import { seededRandom } from '../../support/seeded-random.ts'

function read(pieces: readonly Buffer[], maxBytes = 1_000) {
  const seen: string[] = []
  const lines = new Lines(
    maxBytes,
    (line) => seen.push(line),
    () => seen.push('(too long)'),
  )
  for (const piece of pieces) lines.add(piece)
  return seen
}

it('gives the same lines however the bytes are cut, also within a character', () => {
  const random = seededRandom()
  const wanted = Array.from({ length: 40 }, (_, index) => `${index} ${'äß🦓x'.repeat(Math.floor(random() * 9))}`)
  const bytes = Buffer.from(`${wanted.join('\n')}\n`)
  for (let turn = 0; turn < 50; turn++) {
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + Math.floor(random() * 40)
      pieces.push(bytes.subarray(at, end))
      at = end
    }
    expect(read(pieces)).toEqual(wanted)
  }
})

it('leaves out empty lines, takes line ends of Windows, and keeps an unfinished line to itself', () => {
  expect(read([Buffer.from('\n \n\r\n{"a":1}\r\n{"b"')])).toEqual(['{"a":1}\r'])
})

it('tells a line that is too long once, and goes on with the next', () => {
  const long = Array.from({ length: 5 }, () => Buffer.alloc(600, 'x'))
  expect(read([Buffer.from('first\n'), ...long, Buffer.from('\nnext\n'), ...long, Buffer.from('\n')])).toEqual([
    'first',
    '(too long)',
    'next',
    '(too long)',
  ])
  expect(read([Buffer.from(`${'y'.repeat(1_000)}\n${'z'.repeat(1_001)}\nend\n`)])).toEqual([
    'y'.repeat(1_000),
    '(too long)',
    'end',
  ])
})

import { expect, it } from 'vitest'
import { unquoted } from '../../../src/cli/chat/turn/attachment.ts'
import { mediaTypeOf } from '../../../src/cli/chat/turn/media-type.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

it.each<[string, Uint8Array | undefined, string]>([
  ['a.txt', bytes('\x89PNG\r\n\x1a\n'), 'image/png'],
  ['a', bytes('\xff\xd8\xff\xe0'), 'image/jpeg'],
  ['a', bytes('RIFF1234WEBP'), 'image/webp'],
  ['a', bytes('RIFF1234WAVE'), 'audio/wav'],
  ['a', bytes('%PDF-1.7'), 'application/pdf'],
  ['A.MD', bytes('# x'), 'text/markdown'],
  ['a.constructor', bytes('x'), 'text/plain'],
  ['Makefile', bytes('all: ü'), 'application/octet-stream'],
  ['Makefile', new TextEncoder().encode('all: ü'), 'text/plain'],
  ['a', bytes('a\0b'), 'application/octet-stream'],
  ['/x/y.PDF', undefined, 'application/pdf'],
  ['/x', undefined, 'application/octet-stream'],
])('the media type of %s with %j is %s', (name, content, type) => {
  expect(mediaTypeOf(name, content)).toBe(type)
})

it.each([
  ['"a b.png"', 'a b.png'],
  ["'a\\ b'", 'a\\ b'],
  ['a\\ b\\(1\\).png', 'a b(1).png'],
  ['a b.png', 'a b.png'],
])('a path typed as %s is %s', (typed, path) => {
  expect(unquoted(typed)).toBe(path)
})

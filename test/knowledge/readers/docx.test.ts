import { afterAll, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { readerFixture } from '../../support/knowledge/readers.ts'

afterAll(() => readers.close())

it('a Word document keeps notes, text boxes and descriptions, and loses comments and deleted text', async () => {
  const found = await readers.read({ content: readerFixture('docx/docx.docx'), name: 'docx.docx' })
  expect(found).toMatchObject({ reader: 'docx' })
  // Neither the heads and feet of its pages nor its comment.
  expect(found.text.trim()).toBe(`# Arriving

Call on channel 12; the light flashes twice.[\\[1\\]](#footnote-1)

Wait for the answer.

1.  Pay the fee.
2.  Untie the boat.

A plan of the pier

| Light | Colour |
| --- | --- |
| Pier | red |

Mind the step.

1.  Every ten seconds. [↑](#footnote-ref-1)`)
})

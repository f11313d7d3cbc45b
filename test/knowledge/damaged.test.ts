import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createReaders } from '../../src/knowledge/readers/all.ts'
import { damagedDocuments } from '../support/damaged-documents.ts'
import { docxEntries, paragraph, pdf, zip } from '../support/documents.ts'

const readers = createReaders({ timeoutMs: 20_000, memoryBytes: 500 * 1024 * 1024 })
afterAll(() => readers.close())

describe('a document that can not be read', () => {
  it.each(damagedDocuments().map((document) => [document.name, document] as const))(
    'is refused with the reason: %s',
    async (name, { content, reason }) => {
      const error = await readers.read({ content, name }).then(
        () => 'it was read',
        (refused: unknown) => refused,
      )
      expect(error).toMatchObject({ code: 'unreadable_document', message: expect.stringMatching(reason) })
      expect(String(error)).toContain(`${name} can't be read: `)
    },
  )

  it('leaves the readers ready for the next one', async () => {
    const document = await readers.read({ content: pdf([['The harbour opens at six.']]), name: 'a.pdf' })
    expect(document.text).toContain('The harbour opens at six.')
  })
})

describe('the limits of the parsing process', () => {
  const page = Buffer.from(`<p>${'<b>word</b> '.repeat(200_000)}</p>`)

  it('end a document that takes too long, and the next one is read', async () => {
    const strict = createReaders({ timeoutMs: 100 })
    await expect(strict.read({ content: page, name: 'long.html' })).rejects.toMatchObject({
      code: 'unreadable_document',
      message: expect.stringContaining('takes longer than 0.1 s'),
    })
    const patient = createReaders()
    expect((await patient.read({ content: '<p>short</p>', name: 'short.html' })).text).toBe('short\n')
    await Promise.all([strict.close(), patient.close()])
  })

  it('end a document that takes too much memory', async () => {
    const strict = createReaders({ memoryBytes: 130 * 1024 * 1024 })
    await expect(strict.read({ content: page, name: 'large.html' })).rejects.toMatchObject({
      code: 'unreadable_document',
      message: expect.stringContaining('more than 130 MB of memory'),
    })
    await strict.close()
  })

  it('do not hold back whoever gives up', async () => {
    const own = createReaders()
    const stop = new AbortController()
    const long = own.read({ content: page, name: 'long.html', signal: stop.signal })
    const reason = new Error('enough')
    stop.abort(reason)
    await expect(long).rejects.toBe(reason)
    const docx = zip(docxEntries(paragraph('Still here.')))
    expect((await own.read({ content: docx, name: 'a.docx' })).text).toContain('Still here.')
    await own.close()
  })

  it('are not what ends a document when the readers are closed', async () => {
    const own = createReaders()
    const reading = ['a.html', 'b.html'].map((name) => own.read({ content: page, name }))
    const ends = Promise.allSettled(reading)
    await nextTurn()
    await own.close()
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    expect((await own.read({ content: '<p>open again</p>', name: 'c.html' })).text).toBe('open again\n')
    await own.close()
  })
})

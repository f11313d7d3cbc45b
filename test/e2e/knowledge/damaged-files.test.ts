import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as yieldToLoop } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createReaders } from '../../../src/knowledge/readers/all.ts'
import { childProgram } from '../../../src/knowledge/readers/parser-child.ts'
import { parserPermissions } from '../../../src/knowledge/readers/parser-process.ts'
import { damagedDocuments } from '../../support/knowledge/damaged-files.ts'
import { docxEntries, paragraph, pdf, zip } from '../../support/knowledge/files.ts'

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

  it('end a document that takes too much processor time for its size', async () => {
    const strict = createReaders({ cpuMs: 300, cpuMsPerMegabyte: 10 })
    await expect(strict.read({ content: page, name: 'long.html' })).rejects.toMatchObject({
      code: 'unreadable_document',
      message: expect.stringContaining('takes more than 0.3 s of processor time (0.3 s, and 0.01 s for each MB)'),
    })
    await strict.close()
  })

  it.each([
    ['no-break spaces', `<p>${'&nbsp;'.repeat(400_000)}The end.</p>`],
    ['empty elements', `<p>${'<i>\u3000</i>'.repeat(40_000)}The end.</p>`],
    ['spaces in preformatted text', `<pre>${' '.repeat(600_000)}The end.</pre>`],
  ])('are not reached by a page of %s', async (_what, content) => {
    const { text } = await readers.read({ content, name: 'blank.html' })
    expect(text).toContain('The end.')
  })

  it('let the process read the files of this package alone', async () => {
    const { parser } = await import('../../../src/knowledge/readers/parse.ts')
    const folder = await mkdtemp(join(tmpdir(), 'outside-'))
    const outside = join(folder, 'secret.txt')
    await writeFile(outside, 'secret')
    const ask = async (program: string) => {
      const url = `data:text/javascript,${encodeURIComponent(`export const parser = { parse: async () => ${program} }`)}`
      const flags = [...parserPermissions(parser.url), '--no-warnings', '--input-type=module']
      const child = spawn(process.execPath, [...flags, '--eval', childProgram, '1e9', '60000'], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        serialization: 'advanced',
      })
      child.send({ url, work: {}, cpuMs: 60_000 })
      const [reply] = await once(child, 'message')
      child.kill()
      return reply
    }
    const read = (file: string) => ask(`(await import('node:fs')).readFileSync(${JSON.stringify(file)}).length > 0`)
    expect(await read(join(import.meta.dirname, '../../../package.json'))).toMatchObject({ found: true })
    expect(await read(outside)).toMatchObject({
      reason: expect.stringContaining('Access to this API has been restricted'),
    })
    const thread = `new (await import('node:worker_threads')).Worker('', { eval: true })`
    expect(await ask(thread)).toMatchObject({ reason: expect.stringContaining('not a constructor') })
    await rm(folder, { recursive: true })
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
    await yieldToLoop()
    await own.close()
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    expect((await own.read({ content: '<p>open again</p>', name: 'c.html' })).text).toBe('open again\n')
    await own.close()
  })
})

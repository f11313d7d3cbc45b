import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'
import { placesOf, readerFixture } from '../../support/knowledge/readers.ts'

afterAll(() => readers.close())

const read = (file: string) => readers.read({ content: readerFixture(`mail/${file}`), name: file })
const textOf = async (content: string | Buffer, name = 'a.eml') => (await readers.read({ content, name })).text
const section = (...lines: string[]) => `${lines.join('\n')}\n\n`

describe('e-mail', () => {
  it('has its headers, its plain text before HTML, and the names of its attachments', async () => {
    const found = await read('python.eml')
    const title = `Grüße vom Hafen –${' eine lange Zeile, die gefaltet wird,'.repeat(3)}`
    expect(found).toMatchObject({ reader: 'mail', metadata: { title } })
    expect(found.text).toBe(
      section(
        `# ${title}\n`,
        'From: Zoë Ångström <zoe@harbour.example>',
        'To: crew@harbour.example, Bo <bo@harbour.example>',
        'Date: Mon, 23 Nov 2026 10:00:00 +0100\n',
        'Die Flut kommt um sechs.',
        '# kein Titel\n',
        'Attachments: Gebühren 2026.pdf',
      ),
    )
    expect(placesOf(found, ['Flut', 'kein Titel'], 5_000)).toEqual([[title], [title]])
  })

  it('is read from HTML when it has no plain text, also behind a base64 subject', async () => {
    expect((await read('nodemailer.eml')).text).toBe(
      section(
        '# 明日の潮 🌊\n',
        'From: 港長 <master@harbour.example>',
        'To: crew@harbour.example',
        'Date: Mon, 23 Nov 2026 09:00:00 +0000\n',
        '# Tides\n',
        'High at **six** & low at noon. The pier\n',
        'Attachments: pier.png, списък.txt',
      ),
    )
  })

  it('in an older charset is decoded as it says', async () => {
    expect((await read('mime-lite.eml')).text).toMatch(/^# Café open\n[\s\S]*\n\nLe café est ouvert\.\n\n$/)
  })
})

describe('a mailbox', () => {
  it('has a section for each message, with forwarded ones inside', async () => {
    const found = await read('python.mbox')
    expect(found.metadata).toMatchObject({ messages: 3 })
    const head =
      'From: Zoë Ångström <zoe@harbour.example>\nTo: crew@harbour.example, Bo <bo@harbour.example>\nDate: Mon, 23 Nov 2026 10:00:00 +0100\n'
    const low = 'Low water at noon.'
    expect(found.text).toBe(
      section('# Прилив\n', head, 'Вода высокая.', 'From now on it falls.') +
        section('# Re: Прилив\n', head, low) +
        section('# Fwd\n', head, 'See below.\n', 'Subject: Re: Прилив', head, low),
    )
    expect(placesOf(found, ['высокая', low, 'See below'], 400)).toEqual([['Прилив'], ['Re: Прилив'], ['Fwd']])
  })

  it('may be messages as they were sent, in different charsets, with lines that begin like a message', async () => {
    const found = await read('formail.mbox')
    expect(found.metadata).toMatchObject({ messages: 3 })
    expect(found.text).toContain('Le café est ouvert.')
    expect(found.text).toContain('\n\nThe rota follows.\n\nFrom dusk on, two of us are at the quay.\n')
    expect(placesOf(found, ['café', 'pier.png', 'quay'], 400)).toEqual([
      ['Café open'],
      ['明日の潮 🌊'],
      ['Night watch'],
    ])
  })

  it('may be the patches of a repository', async () => {
    const found = await read('git.mbox')
    expect(found.text).toContain('# [PATCH 2/2] Add number two\n\nFrom: Ann Lee <ann@harbour.example>\n')
    expect(placesOf(found, ['a/one', 'a/two'], 5_000)).toEqual([
      ['[PATCH 1/2] Add number one'],
      ['[PATCH 2/2] Add number two'],
    ])
  })
})

describe('e-mail that is odd', () => {
  const mail = (head: string, body: string) => `From: a@b.example\nSubject: x\n${head}\n\n${body}`
  const shown = (body: string) => `# x\n\nFrom: a@b.example\n\n${body}\n\n`

  it('is read as far as it goes: broken base64, no charset, a wrong one, an open boundary', async () => {
    const base64 = 'Content-Transfer-Encoding: base64'
    expect(await textOf(mail(base64, 'SGVs\n*bG8='))).toBe(shown('Hello'))
    const eight = (head: string) => Buffer.concat([Buffer.from(mail(head, 'Gr')), Buffer.from([0xfc, 0x21])])
    expect(await textOf(eight('Content-Type: text/plain; charset=latin1'))).toBe(shown('Grü!'))
    const lost = shown('Gr\ufffd!\n\n(Some characters could not be decoded.)')
    expect(await textOf(eight('Content-Type: text/plain; charset=x-none'))).toBe(lost)
    expect(await textOf(mail('', 'Grüße'))).toBe(shown('Grüße'))
    expect(await textOf(mail('Content-Type: text/plain; charset=us-ascii', 'Grüße'))).toBe(shown('Grüße'))
    expect(await textOf(mail('Content-Type: multipart/mixed; boundary=b', '--b\n\nopen'))).toBe(shown('open'))
    expect(await textOf(mail('Content-Type: text/plain; format=flowed', 'one \ntwo\n-- \nA'))).toBe(
      shown('one two\n-- \nA'),
    )
  })

  it('joins a character that two encoded words share, and names of files in pieces', async () => {
    const head = "Content-Disposition: attachment; filename*0*=utf-8''Gr%C3; filename*1*=%BC.pdf"
    const words = '=?utf-8?B?w7zD?=\n =?utf-8?B?vA==?= rest =?utf-8?Q?a_b?='
    expect(await textOf(`Subject: ${words}\n${head}\n\nx`)).toBe('# üü rest a b\n\nAttachments: Grü.pdf\n\n')
  })

  it('with too many parts, or too deep ones, says that some are left out', async () => {
    const many = mail('Content-Type: multipart/mixed; boundary=b', `${'--b\n\npart\n'.repeat(100_000)}--b--`)
    expect(await textOf(many)).toMatch(/part\n\npart\n\n\(Parts beyond 1000, .* were left out\.\)\n\n$/)
    let deep = 'x'
    for (let depth = 100; depth > 0; depth--)
      deep = `Content-Type: multipart/mixed; boundary=b${depth}\n\n--b${depth}\n${deep}`
    expect(await textOf(`Subject: x\n${deep}`)).toContain('nested more than 30 deep, were left out')
  })
})

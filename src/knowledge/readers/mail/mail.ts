import type { Heading } from '../../../core/knowledge/drivers.ts'
import { htmlText } from '../markup/html.ts'
import { assertLength, Unreadable } from '../markup/unreadable.ts'
import type { Found } from '../reader.ts'
import { headerText } from './charset.ts'
import { fileNameOf, isAttachment, type MimePart, parsePart, partsOf, textOf } from './mime.ts'

/** In one message. */
const maxParts = 1_000
const maxDepth = 30
const shownHeaders = ['From', 'To', 'Cc', 'Date']
const mailboxLine = /(?:^|\n\r?\n)From [^\n]*\d\d:\d\d[^\n]*\n/g

/**
 * A message, or the messages of a mailbox (mbox), as a section each: its subject, the main headers, its text and the names
 * of its attachments, which are not read.
 */
export async function readMail(content: Uint8Array): Promise<Found> {
  const binary = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1')
  const isMailbox = binary.startsWith('From ')
  const messages = (isMailbox ? messagesIn(binary) : [binary.trimStart()]).map(parsePart)
  const known = messages.filter(({ headers }) =>
    ['from', 'date', 'subject', 'message-id'].some((name) => headers.has(name)),
  )
  if (known.length === 0) throw new Unreadable('it does not begin with the headers of a message')
  const outline: Heading[] = []
  const parts: string[] = []
  let length = 0
  for (const message of known) {
    const title = subjectOf(message).slice(0, 200).toWellFormed()
    outline.push({ start: length, level: 1, title })
    const section = `# ${title}\n\n${await sectionOf(message, isMailbox)}\n\n`
    parts.push(section)
    length += section.length
    assertLength(length)
  }
  const [first] = outline
  const metadata = isMailbox ? { messages: known.length } : { ...(first ? { title: first.title } : {}) }
  return { text: parts.join(''), start: 0, metadata, chunker: 'markdown', outline }
}

function messagesIn(mailbox: string): string[] {
  const starts = [...mailbox.matchAll(mailboxLine)].map(({ index, 0: line }) => ({
    before: index,
    from: index + line.length,
  }))
  return starts.map(({ from }, at) => mailbox.slice(from, starts[at + 1]?.before ?? mailbox.length))
}

function subjectOf({ headers }: MimePart): string {
  return oneLine(headerText(headers.get('subject') ?? '')) || '(no subject)'
}

async function sectionOf(message: MimePart, isMailbox: boolean): Promise<string> {
  const state: Reading = { parts: 0, leftOut: false, files: [] }
  const text = (await textIn(message, 0, state)).trim()
  const lines = [
    headLines(message).join('\n'),
    // Mailboxes put > before lines that would begin a message.
    isMailbox ? text.replace(/^>(>*From )/gm, '$1') : text,
    state.files.length === 0 ? '' : `Attachments: ${state.files.join(', ')}`,
    state.leftOut ? `(Parts beyond ${maxParts}, or nested more than ${maxDepth} deep, were left out.)` : '',
    text.includes('\ufffd') ? '(Some characters could not be decoded.)' : '',
  ]
  return lines.filter((line) => line !== '').join('\n\n')
}

function headLines({ headers }: MimePart): string[] {
  return shownHeaders.flatMap((name) => {
    const value = oneLine(headerText(headers.get(name.toLowerCase()) ?? '')).slice(0, 2_000)
    return value === '' ? [] : [`${name}: ${value}`]
  })
}

interface Reading {
  parts: number
  leftOut: boolean
  files: string[]
}

async function textIn(part: MimePart, depth: number, state: Reading): Promise<string> {
  if (++state.parts > maxParts || depth > maxDepth) {
    state.leftOut = true
    return ''
  }
  const { type } = part
  if (isAttachment(part) && type !== 'message/rfc822') return named(part, state)
  if (type.startsWith('multipart/')) return multipart(part, depth, state)
  if (type === 'message/rfc822') {
    const inner = parsePart(part.body)
    const head = [`Subject: ${subjectOf(inner)}`, ...headLines(inner)].join('\n')
    return `${head}\n\n${await textIn(inner, depth + 1, state)}`
  }
  if (type === 'text/html') return htmlOf(part)
  if (type === 'text/plain' || type === 'text/markdown') return plainOf(part)
  return named(part, state)
}

/** Of alternatives the plain text counts, else the first that has any. */
async function multipart(part: MimePart, depth: number, state: Reading): Promise<string> {
  const parts = [...partsOf(part, maxParts + 1)]
  const isChoice = part.type === 'multipart/alternative'
  if (isChoice) parts.sort((one, other) => Number(other.type === 'text/plain') - Number(one.type === 'text/plain'))
  const texts: string[] = []
  for (const each of parts) {
    if (isChoice && texts.length > 0 && each.type.startsWith('text/')) continue
    const text = (await textIn(each, depth + 1, state)).trim()
    if (text !== '') texts.push(text)
    if (state.leftOut) break
  }
  return texts.join('\n\n')
}

function named(part: MimePart, state: Reading): string {
  state.files.push(fileNameOf(part) || `(${part.type})`)
  return ''
}

async function htmlOf(part: MimePart): Promise<string> {
  try {
    return await htmlText(textOf(part))
  } catch (error) {
    if (error instanceof Unreadable) return `(Its HTML can't be read: ${error.message}.)`
    throw error
  }
}

/** With `format=flowed`, a space at the end of a line goes on in the next. */
function plainOf(part: MimePart): string {
  const text = textOf(part).replaceAll('\0', '')
  if (part.parameters.get('format')?.toLowerCase() !== 'flowed') return text
  return text.replace(/^(?!-- $)(.*) \n(?!>)/gm, '$1 ')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

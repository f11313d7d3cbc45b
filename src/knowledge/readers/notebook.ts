import { unreadable } from '../../core/knowledge/filter.ts'
import type { TextReader } from './reader.ts'

/** Characters of an output; what is longer is mostly data. */
const maxOutput = 2_000

/** A Jupyter notebook as Markdown: its texts, its code in fences and the text that the code has put out. */
export const notebookReader: TextReader = {
  name: 'ipynb',
  mediaTypes: ['application/x-ipynb+json'],
  extensions: ['.ipynb'],
  read(text, name) {
    const notebook = parse(text, name)
    const language = languageOf(notebook)
    // Version 3 has its cells in worksheets.
    const cells = [
      ...listIn(notebook, 'cells'),
      ...listIn(notebook, 'worksheets').flatMap((each) => listIn(each, 'cells')),
    ]
    const parts = cells.map((cell) => partOf(cell, language)).filter((part) => part.trim() !== '')
    if (parts.length === 0) throw unreadable(name, 'the notebook has no text')
    const markdown = `${parts.join('\n\n')}\n`
    const texts = cells
      .filter(({ cell_type }) => cell_type === 'markdown')
      .map(({ source }) => textIn(source).slice(0, 2_000))
    const title = /^#[ \t]+(\S.*)$/m.exec(texts.slice(0, 20).join('\n'))?.[1]?.trim()
    return {
      text: markdown.toWellFormed().replaceAll('\0', ''),
      start: 0,
      metadata: {
        ...(title === undefined ? {} : { title }),
        ...(language === '' ? {} : { programming_language: language }),
      },
      chunker: 'markdown',
    }
  },
}

type Fields = Record<string, unknown>

function parse(text: string, name: string | undefined): Fields {
  let notebook: unknown
  try {
    notebook = JSON.parse(text)
  } catch {
    throw unreadable(name, 'the notebook is not JSON, or cut off')
  }
  const fields = fieldsOf(notebook)
  if (!Array.isArray(fields.cells) && !Array.isArray(fields.worksheets))
    throw unreadable(name, 'it is JSON, but not a notebook: it has no cells')
  return fields
}

function partOf(cell: Fields, language: string): string {
  const source = textIn(cell.source ?? cell.input)
  if (cell.cell_type === 'heading') return `${'#'.repeat(Math.min(6, Math.max(1, Number(cell.level) || 1)))} ${source}`
  if (cell.cell_type === 'markdown') return withoutData(closed(source.trimEnd()))
  if (cell.cell_type !== 'code') return source.trimEnd()
  const outputs = listIn(cell, 'outputs').map(outputOf).join('').trimEnd()
  const code = source.trim() === '' ? [] : [fenced(source.trimEnd(), language)]
  return [...code, ...(outputs === '' ? [] : [fenced(shortened(outputs), '')])].join('\n\n')
}

function outputOf(output: Fields): string {
  if (output.output_type === 'error' || output.output_type === 'pyerr')
    return line(`${textIn(output.ename)}: ${textIn(output.evalue)}`)
  const data = fieldsOf(output.data)
  const text = textIn(output.text) || textIn(data['text/plain']) || textIn(data['text/markdown'])
  return text === '' ? '' : line(text.slice(0, maxOutput * 2))
}

/** Without the codes that colour a terminal. */
function line(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins these codes
  return `${text.replace(/\x1b\[[\d;]*[A-Za-z]/g, '').trimEnd()}\n`
}

function shortened(text: string): string {
  return text.length <= maxOutput ? text : `${text.slice(0, maxOutput).toWellFormed()} …`
}

function fenced(code: string, language: string): string {
  const longest = [...code.matchAll(/`{3,}/g)].reduce((most, [marks]) => Math.max(most, marks.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${code}\n${fence}`
}

/** A fence that a cell leaves open ends with the cell. */
function closed(markdown: string): string {
  let open: string | undefined
  for (const [, marks = '', rest = ''] of markdown.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === undefined) open = marks
    else if (marks.startsWith(open) && rest.trim() === '') open = undefined
  }
  return open === undefined ? markdown : `${markdown}\n${open}`
}

/** Pictures in the address of a link or an image are not text. */
function withoutData(markdown: string): string {
  return markdown.includes('data:') ? markdown.replace(/data:[\w/+.-]{1,100};base64,[\w+/=]+/g, 'data:') : markdown
}

function languageOf(notebook: Fields): string {
  const metadata = fieldsOf(notebook.metadata)
  const name = textIn(fieldsOf(metadata.language_info).name) || textIn(fieldsOf(metadata.kernelspec).language)
  return /^[\w+#.-]{1,40}$/.test(name) ? name.toLowerCase() : ''
}

/** Texts may be lists of lines. */
function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.filter((each) => typeof each === 'string').join('')
  return typeof value === 'string' ? value : ''
}

function listIn(fields: Fields, key: string): Fields[] {
  const value = fields[key]
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

import { describe, expect, test } from 'vitest'
import type { AppError } from '../../../src/core/error.ts'
import { readContent } from '../../../src/protocols/openai/content.ts'
import { openaiErrorOf } from '../../../src/protocols/openai/error.ts'

const read = (content: unknown) => readContent(content, 'messages[0].content')
const png = 'data:image/png;base64,iVBORw0KGgo='
const link = 'https://example.org/map.png'

function refusal(content: unknown) {
  try {
    read(content)
  } catch (error) {
    const { param, code } = openaiErrorOf(error as AppError)
    return [param, code]
  }
  return undefined
}

describe('content', () => {
  test('is text, or texts of both dialects; empty ones are left out', () => {
    expect(read('Hello')).toEqual([{ type: 'text', text: 'Hello' }])
    expect(read('')).toEqual([])
    const parts = ['text', 'input_text', 'output_text'].map((type) => ({ type, text: type, annotations: [] }))
    expect(read([...parts, { type: 'text', text: '' }, { type: 'refusal', refusal: 'No.' }])).toEqual(
      ['text', 'input_text', 'output_text', 'No.'].map((text) => ({ type: 'text', text })),
    )
  })

  test('has images in both dialects', () => {
    const inside = { type: 'file', media_type: 'image/png', data: 'iVBORw0KGgo=' }
    expect(read([{ type: 'image_url', image_url: { url: png, detail: 'low' } }])).toEqual([inside])
    expect(read([{ type: 'input_image', image_url: png, file_id: null }])).toEqual([inside])
    const elsewhere = { type: 'file', media_type: 'image/*', url: link }
    expect(read([{ type: 'image_url', image_url: { url: link } }])).toEqual([elsewhere])
    expect(read([{ type: 'input_image', image_url: link }])).toEqual([elsewhere])
  })

  test('has files in both dialects, text files as text', () => {
    const file_data = 'data:application/pdf;base64,JVBERi0='
    const inside = { type: 'file', media_type: 'application/pdf', name: 'a.pdf', data: 'JVBERi0=' }
    expect(read([{ type: 'file', file: { file_data, filename: 'a.pdf' } }])).toEqual([inside])
    expect(read([{ type: 'input_file', file_data, filename: 'a.pdf' }])).toEqual([inside])
    expect(read([{ type: 'input_file', file_url: 'https://example.org/a.pdf?x' }])).toEqual([
      { type: 'file', media_type: 'application/pdf', url: 'https://example.org/a.pdf?x' },
    ])
    expect(read([{ type: 'input_file', file_data: 'data:text/csv;base64,YSxi', filename: 'a.csv' }])).toEqual([
      { type: 'text', text: 'a,b' },
    ])
  })

  const at = 'messages[0].content[1]'
  const file = { filename: 'a', file_id: 'file-1' }
  test.each([
    [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }, at, 'unsupported_content'],
    [{ type: 'constructor' }, at, 'unsupported_content'],
    [{ type: 'file', file }, `${at}.file.file_id`, 'unsupported_content'],
    [{ type: 'input_file', ...file }, `${at}.file_id`, 'unsupported_content'],
    [{ type: 'input_image', file_id: 'file-1' }, `${at}.file_id`, 'unsupported_content'],
    [{ type: 'input_file', file_url: 'file:///etc/passwd' }, `${at}.file_url`, 'unsupported_content'],
    [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }, `${at}.image_url`, 'unsupported_content'],
    [{ type: 'image_url', image_url: { url: 'ftp://a/b' } }, `${at}.image_url`, 'unsupported_content'],
    [{ type: 'file', file: { file_data: 'JVBERi0=' } }, `${at}.file.file_data`, 'unsupported_content'],
    [{ type: 'image_url', image_url: 'data:image/svg+xml,%zz' }, `${at}.image_url`, 'invalid_value'],
    [{ type: 'image_url' }, `${at}.image_url`, 'invalid_value'],
    [{ type: 'image_url', image_url: { url: 5 } }, `${at}.image_url`, 'invalid_value'],
    [{ type: 'text' }, `${at}.text`, 'invalid_value'],
    [{ type: 'text', text: {} }, `${at}.text`, 'invalid_value'],
    [{ type: 'file' }, `${at}.file_data`, 'invalid_value'],
    [{ type: 7 }, `${at}.type`, 'invalid_value'],
    [null, at, 'invalid_value'],
    ['text', at, 'invalid_value'],
    [[], at, 'invalid_value'],
  ])('refuses %j', (part, param, code) => {
    expect(refusal([{ type: 'text', text: 'Look.' }, part])).toEqual([param, code])
  })

  test.each([[undefined], [null], [5], [{}], [true]])('refuses %j instead of it', (content) => {
    expect(refusal(content)).toEqual(['messages[0].content', 'invalid_value'])
  })
})

import { type AppError, invalid } from '../../core/error.ts'
import { isWebAddress } from '../../core/file.ts'
import type { GivenPart } from '../../core/message.ts'
import { partOfDataUrl } from '../data-url.ts'
import { type Fields, field, isFields, textField, wrong } from '../fields.ts'
import { unsupported } from './error.ts'

/**
 * The content of a message, in the words of chat completions or of responses: text, or a list of parts. Empty texts are left
 * out, because some models refuse them. `param`: as OpenAI writes it, `messages[0].content`.
 */
export function readContent(content: unknown, param: string): GivenPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw wrong(param, 'a string or a list of parts')
  return content.flatMap((part, place) => readPart(part, `${param}[${place}]`))
}

function readPart(part: unknown, param: string): GivenPart[] {
  if (!isFields(part)) throw wrong(param, 'a part with a type')
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textPart(part, 'text', param)
    case 'refusal':
      return textPart(part, 'refusal', param)
    case 'image_url':
      return [readImage(addressIn(part, 'image_url', param), `${param}.image_url`)]
    case 'input_image':
      refuseId(part, param)
      return [readImage(addressIn(part, 'image_url', param), `${param}.image_url`)]
    case 'file':
      return [readFile(isFields(part.file) ? part.file : part, isFields(part.file) ? `${param}.file` : param)]
    case 'input_file':
      return [readFile(part, param)]
    default:
      throw unsupportedPart(part.type, param)
  }
}

function unsupportedPart(type: unknown, param: string): AppError {
  if (typeof type !== 'string') throw wrong(`${param}.type`, 'a string')
  const name = type.length > 40 ? `${type.slice(0, 40)}…` : type
  return unsupported(
    `Content of the type '${name}' is not supported. Send text, images and files.`,
    param,
    'unsupported_content',
  )
}

function textPart(part: Fields, name: string, param: string): GivenPart[] {
  const text = textField(part, name, `${param}.${name}`)
  if (text === undefined) throw wrong(`${param}.${name}`, 'a string')
  return text === '' ? [] : [{ type: 'text', text }]
}

/** Chat completions have `{url}`, responses the address itself, and clients send either to both. */
function addressIn(part: Fields, name: string, param: string): string {
  const given = field(part, name)
  const url = isFields(given) ? given.url : given
  if (typeof url === 'string') return url
  throw wrong(`${param}.${name}`, 'an address')
}

function readImage(url: string, param: string): GivenPart {
  return readAddress(url, param, { otherwise: 'image/*' })
}

function readFile(file: Fields, param: string): GivenPart {
  const name = textField(file, 'filename', `${param}.filename`)
  const data = textField(file, 'file_data', `${param}.file_data`)
  const url = textField(file, 'file_url', `${param}.file_url`)
  if (data === undefined && url === undefined) refuseId(file, param)
  if (data !== undefined && !/^data:/i.test(data)) {
    throw unsupported(
      `${param}.file_data must be a data: address, as in data:application/pdf;base64,…`,
      `${param}.file_data`,
      'unsupported_content',
    )
  }
  const address = data ?? url
  if (address === undefined) throw wrong(`${param}.file_data`, 'a data: address')
  const otherwise = typeOfName(name ?? address)
  return readAddress(address, `${param}.${data === undefined ? 'file_url' : 'file_data'}`, { name, otherwise })
}

function refuseId(part: Fields, param: string): void {
  if (field(part, 'file_id') === undefined) return
  const message = `${param}.file_id names a file of another provider. Send the file itself, as a data: address, or its http address.`
  throw unsupported(message, `${param}.file_id`, 'unsupported_content')
}

/** `otherwise`: the media type of an address that does not say it. */
function readAddress(
  url: string,
  param: string,
  { name, otherwise }: { name?: string | undefined; otherwise: string },
): GivenPart {
  const broken = () => invalid(`${param} is a data: address with a broken percent-encoding.`, param)
  const inside = partOfDataUrl(url, { name, broken })
  if (inside !== undefined) return inside
  if (!isWebAddress(url)) {
    throw unsupported(`${param} must be a data:, http or https address.`, param, 'unsupported_content')
  }
  const about = { media_type: otherwise, ...(name !== undefined && name !== '' && { name }) }
  return { type: 'file', ...about, url }
}

function typeOfName(name: string): string {
  return /\.pdf(?:[?#]|$)/i.test(name) ? 'application/pdf' : 'application/octet-stream'
}

import { invalid } from '../../core/error.ts'
import type { GivenPart, UploadedFilePart } from '../../core/message.ts'
import { parseJson } from '../../http/body/json-guard.ts'
import { decodeText } from '../../http/body/media-type.ts'
import type { HttpRequest, MultipartPart } from '../../http/request.ts'
import { parseBody } from '../../wire/parse.ts'
import { partsOf, RunRequest } from '../../wire/run.ts'

/** The body of a run: JSON, or a form with the JSON in `request` and files after it. */
export async function readRunBody(request: HttpRequest) {
  if (request.body.mediaType !== 'multipart/form-data') return toBody(await request.body.json(), [])
  const parts = (await request.body.multipart()).filter(({ name }) => name !== '_charset_')
  const unknown = parts.find(({ name }) => name !== 'request' && name !== 'file')
  if (unknown !== undefined) {
    const name = unknown.name.slice(0, 100)
    throw invalid(`The form has the unknown field '${name}'. It takes \`request\` and any number of \`file\`.`, name)
  }
  const [json, second] = parts.filter(({ name }) => name === 'request')
  if (json === undefined) throw invalid('request is required: the JSON body of the run.', 'request')
  if (second !== undefined) throw invalid('request must be given once.', 'request')
  return toBody(toJson(json), parts.filter(({ name }) => name === 'file').map(toFile))
}

function toBody(value: unknown, files: readonly UploadedFilePart[]) {
  const body = parseBody(RunRequest, value)
  const given: GivenPart[] = partsOf(body.input)
  return { body, parts: files.length === 0 ? given : [...given, ...files] }
}

function toJson(part: MultipartPart): unknown {
  const text = part.kind === 'field' ? part.value : decodeText(Buffer.from(part.bytes), part.mediaType)
  try {
    return parseJson(text)
  } catch (error) {
    throw invalid(`request must be JSON. ${error instanceof Error ? error.message : ''}`.trim(), 'request')
  }
}

function toFile(part: MultipartPart): UploadedFilePart {
  if (part.kind !== 'file') throw invalid('file must be a file: give it a filename.', 'file')
  const { filename, mediaType, bytes } = part
  return { type: 'file', media_type: mediaType, ...(filename !== '' && { name: filename }), data: bytes }
}

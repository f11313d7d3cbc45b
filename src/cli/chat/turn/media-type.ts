import { extname } from 'node:path'

const unknownType = 'application/octet-stream'

const byContent: readonly [type: string, bytes: readonly number[], at?: number][] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [...Buffer.from('GIF8')]],
  ['image/webp', [...Buffer.from('WEBP')], 8],
  ['image/avif', [...Buffer.from('ftypavif')], 4],
  ['application/pdf', [...Buffer.from('%PDF-')]],
  ['audio/wav', [...Buffer.from('WAVE')], 8],
  ['audio/mpeg', [...Buffer.from('ID3')]],
  ['audio/ogg', [...Buffer.from('OggS')]],
]

const byExtension: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  flac: 'audio/flac',
  gif: 'image/gif',
  gz: 'application/gzip',
  heic: 'image/heic',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  m4a: 'audio/mp4',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  svg: 'image/svg+xml',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  txt: 'text/plain',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
}

/** By the first bytes, else by the extension; text of another name is text/plain. */
export function mediaTypeOf(name: string, bytes?: Uint8Array): string {
  const known = byContent.find(([, mark, at = 0]) => mark.every((byte, place) => bytes?.[at + place] === byte))
  if (known !== undefined) return known[0]
  const extension = extname(name).slice(1).toLowerCase()
  const named = Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined
  return named ?? (bytes !== undefined && isText(bytes) ? 'text/plain' : unknownType)
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { AppError } from '../../core/error.ts'
import { readMarkup } from './markup.ts'

export interface Sitemap {
  pages: string[]
  /** Of an index: further sitemaps. */
  sitemaps: string[]
}

/** As sitemaps.org allows. */
export const maxSitemapBytes = 52_428_800
const maxAddresses = 50_000
const unpack = promisify(gunzip)

/** A sitemap or an index of sitemaps in XML, or a list of addresses, one a line; also gzipped. */
export async function readSitemap(bytes: Uint8Array, named: string): Promise<Sitemap> {
  const text = new TextDecoder().decode(await unpacked(bytes, named)).trimStart()
  const found: Sitemap = { pages: [], sitemaps: [] }
  if (!text.startsWith('<')) {
    found.pages = text.split(/\s+/, maxAddresses).filter((line) => /^https?:\/\//i.test(line))
    return found
  }
  let list: string[] | undefined
  let address: string | undefined
  await readMarkup(text, 'xml', {
    open(name) {
      if (name === 'url') list = found.pages
      else if (name === 'sitemap') list = found.sitemaps
      else if (name === 'loc') address = ''
    },
    text(piece) {
      if (address !== undefined && address.length < 4_000) address += piece
    },
    close(name) {
      if (name !== 'loc') return
      if (address?.trim() && list !== undefined && list.length < maxAddresses) list.push(address.trim())
      address = undefined
    },
  })
  return found
}

/** The addresses that an llms.txt links to: links of Markdown, relative ones too, and bare addresses. */
export function readLlmsTxt(text: string): string[] {
  const found = new Set<string>()
  for (const [, link, bare] of text.matchAll(
    /\]\(\s*<?([^\s()<>]{1,2000})>?[^()\n]{0,200}\)|(https?:\/\/[^\s()<>[\]]{1,2000})/g,
  )) {
    const address = link ?? bare
    if (address !== undefined && found.size < maxAddresses) found.add(address)
  }
  return [...found]
}

async function unpacked(bytes: Uint8Array, named: string): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return await unpack(bytes, { maxOutputLength: maxSitemapBytes })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw new AppError('payload_too_large', `${named} unpacks to more than ${Math.round(maxSitemapBytes / 1e6)} MB.`)
    throw new AppError('invalid_request', `${named} is a damaged gzip file.`, { cause: error })
  }
}

/** The pages that a crawl may reach from its start. */
export interface Site {
  start: URL
  /** The address in its usual form; undefined outside the site, and for what can't be a document. */
  page(address: string | URL, base?: URL): URL | undefined
  /** Also of other hosts' addresses: whether one belongs to the site. */
  has(address: string): boolean
}

const maxAddressLength = 2_000
/** What pages consist of besides their text, and archives. */
const noDocument =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|tiff?|ico|svg|mp[34]|m4[av]|mov|avi|mkv|webm|wav|ogg|flac|woff2?|[ot]tf|eot|css|m?js|map|wasm|zip|t?gz|bz2|xz|7z|rar|tar|exe|msi|dmg|pkg|deb|rpm|iso|jar|whl|apk|bin|rss|atom)$/i
/** Of bodies that no document is made from. */
const noDocumentType =
  /^(?:image|audio|video|font|model)\/|^text\/(?:css|javascript)|^application\/(?:javascript|zip|gzip|x-(?:gzip|tar|bzip2?|7z-compressed|rar)|wasm|octet-stream|(?:rss|atom)\+xml|manifest\+json)/i

/**
 * One site is one host and port: `www.` before the host makes no difference, and http and https on their usual ports are
 * the same, so that links of an https site to `http:` are followed with https.
 */
export function siteOf(start: string): Site {
  const first = new URL(start)
  const home = keyOf(first)
  return {
    start: first,
    has(address) {
      const url = URL.parse(address)
      return url !== null && home !== undefined && keyOf(url) === home
    },
    page(address, base) {
      const url = URL.parse(`${address}`, base?.href)
      if (url === null || keyOf(url) !== home || noDocument.test(url.pathname)) return undefined
      if (first.protocol === 'https:') url.protocol = 'https:'
      url.username = ''
      url.password = ''
      url.hash = ''
      // Also without the question mark of an empty query.
      if (url.search === '') url.search = ''
      return url.href.length > maxAddressLength ? undefined : url
    },
  }
}

/** Whether a body of this media type may be a document. */
export function mayBeDocument(mediaType: string): boolean {
  return !noDocumentType.test(mediaType)
}

function keyOf({ protocol, hostname, port }: URL): string | undefined {
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  return `${hostname.replace(/^www\./, '').replace(/\.$/, '')}:${port}`
}

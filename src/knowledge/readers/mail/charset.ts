/**
 * The bytes as text in the named charset, or in UTF-8 if that fits where the name is missing, wrong or the smallest one.
 * Undecodable bytes become U+FFFD.
 */
export function decodeBytes(bytes: Uint8Array, charset: string | undefined): string {
  const name = charset?.trim().toLowerCase()
  const isNarrow = name === undefined || name === '' || /^(us-)?ascii$|^iso-?8859-1$|^latin1$|^utf-?8$/.test(name)
  const candidates = isNarrow ? ['utf-8', name ?? ''] : [name, 'utf-8']
  for (const candidate of candidates) {
    try {
      return new TextDecoder(candidate, { fatal: true }).decode(bytes)
    } catch {
      // The next one may fit.
    }
  }
  return new TextDecoder('utf-8').decode(bytes)
}

/** Of a text with a byte in each character. */
export function bytesOf(binary: string): Buffer {
  return Buffer.from(binary, 'latin1')
}

export function fromQuotedPrintable(binary: string): Buffer {
  const joined = binary.replace(/=[ \t]{0,80}\r?\n/g, '')
  return bytesOf(joined.replace(/=([\da-f]{2})/gi, (_whole, code) => String.fromCharCode(Number.parseInt(code, 16))))
}

export function fromBase64(binary: string): Buffer {
  return Buffer.from(binary, 'base64')
}

/** A header as people read it: `=?utf-8?Q?Gr=C3=BC=C3=9Fe?=` (RFC 2047) is `Grüße`. */
export function headerText(binary: string): string {
  const value = decodeBytes(bytesOf(binary), undefined)
  return value.replace(/=\?[^?\s]{1,80}\?[bq]\?[^?\r\n]*\?=(?:\s+=\?[^?\s]{1,80}\?[bq]\?[^?\r\n]*\?=)*/gi, (run) => {
    // A character may begin in one word and end in the next of the same charset.
    const pieces: { charset: string; bytes: Buffer }[] = []
    for (const [, charset = '', kind, text = ''] of run.matchAll(/=\?([^?\s]+)\?([bq])\?([^?\r\n]*)\?=/gi)) {
      const bytes = kind?.toLowerCase() === 'b' ? fromBase64(text) : fromQuotedPrintable(text.replaceAll('_', ' '))
      const name = charset.split('*', 1)[0]?.toLowerCase() ?? ''
      const last = pieces.at(-1)
      if (last?.charset === name) last.bytes = Buffer.concat([last.bytes, bytes])
      else pieces.push({ charset: name, bytes })
    }
    return pieces.map(({ charset, bytes }) => decodeBytes(bytes, charset)).join('')
  })
}

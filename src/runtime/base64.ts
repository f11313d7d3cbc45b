/** Undefined for anything but base64. Node's decoder skips other characters, so the length tells. */
export function fromBase64(text: string): Uint8Array | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (text.length % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.byteLength === Math.floor(((text.length - padding) * 3) / 4) ? bytes : undefined
}

/** What text columns and JSON can't hold, and the character that stands for it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what it is about.
const strange = /[\u0000\u0001]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: the mark of an escape.
const escaped = /\u0001([0-9a-f]{4})/g

/** A text as Postgres can store it. Different texts stay different, and beginnings stay beginnings. */
export function toStored(text: string): string {
  return text.replace(strange, (character) => `\u0001${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function fromStored(text: string): string {
  return text.includes('\u0001')
    ? text.replace(escaped, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
}

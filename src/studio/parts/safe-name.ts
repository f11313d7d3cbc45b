/** Characters that turn the direction of text around, or that nobody sees: `evil\u202egnp.exe` would look like `evilexe.png`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const deceiving = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

const longest = 120

/** A name of a file as it is shown and saved: what deceives is replaced, and no folder is in it. */
export function safeName(name: string): string {
  const seen = name.replace(deceiving, '\ufffd').replaceAll(/[/\\]/g, '_')
  if (seen.length <= longest) return seen
  const dot = seen.lastIndexOf('.')
  const ending = dot > 0 && seen.length - dot <= 12 ? seen.slice(dot) : ''
  return `${seen.slice(0, longest - ending.length)}…${ending}`
}

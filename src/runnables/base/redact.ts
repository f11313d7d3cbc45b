import { stripVTControlCharacters } from 'node:util'

const longestLine = 2_000
/** Shorter values are flags and names, not secrets. */
const shortestSecret = 6

/** A line of a child or peer without terminal control codes. */
export function plainLine(line: string): string {
  return stripVTControlCharacters(line.slice(0, longestLine * 2))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
    .slice(0, longestLine)
}

/** The text without the values of these variables or headers. */
export function hideSecrets(text: string, values: Readonly<Record<string, string>> | undefined): string {
  let shown = text
  for (const value of Object.values(values ?? {})) {
    const secret = value.replace(/^(?:Bearer|Basic)\s+/i, '')
    if (secret.length >= shortestSecret) shown = shown.replaceAll(secret, '***')
  }
  return shown
}

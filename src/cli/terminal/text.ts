/*
 * Makes text of models, documents and servers safe for a terminal. Removes what could move the cursor, set the title,
 * write the clipboard or change the reading direction. Keeps lines, tabs and every visible character.
 */

const escapeCode = 0x1b
/** Sequences that end with a terminator (OSC, DCS, SOS, PM, APC), by the character after ESC. */
const stringStarts = new Set([']', 'P', 'X', '^', '_'].map((character) => character.charCodeAt(0)))
const c1StringStarts = new Set([0x9d, 0x90, 0x98, 0x9e, 0x9f])

/** Fast path for most text; Arabic and above is checked by character. */
const plain = /^[\t\n\x20-\x7e\xa0-\u0600]*$/

type State = 'text' | 'escape' | 'sequence' | 'string' | 'string-escape'

/** Cleans streamed text; recognises a sequence or a character that is split between pieces. */
export function createTerminalFilter(): (piece: string) => string {
  let state: State = 'text'
  let half = ''
  return (next) => {
    const all = half + next
    half = /[\ud800-\udbff]$/.exec(all)?.[0] ?? ''
    const piece = half === '' ? all : all.slice(0, -1)
    if (state === 'text' && plain.test(piece)) return piece
    let clean = ''
    for (const character of piece) {
      const code = character.codePointAt(0) ?? 0
      if (state === 'text') {
        if (code === escapeCode) state = 'escape'
        else if (code === 0x9b) state = 'sequence'
        else if (c1StringStarts.has(code)) state = 'string'
        else if (isHarmless(code)) clean += character
      } else {
        state = nextState(state, code)
        // A sequence swallows at most the rest of its line, so an unfinished one can't hide an answer.
        if (code === 0x0a) {
          state = 'text'
          clean += character
        }
      }
    }
    return clean
  }
}

export function terminalText(text: string): string {
  return createTerminalFilter()(text)
}

/** Cleans text to one line: line ends and tabs become spaces. */
export function terminalLine(text: string): string {
  return terminalText(text).replace(/\s+/g, ' ').trim()
}

/** JSON on one line; control characters become `\u` escapes, so the value is unchanged. */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function nextState(state: Exclude<State, 'text'>, code: number): State {
  if (state === 'escape') {
    if (code === 0x5b) return 'sequence'
    if (stringStarts.has(code)) return 'string'
    return code >= 0x20 && code <= 0x2f ? 'escape' : 'text'
  }
  if (state === 'sequence') return code >= 0x40 && code <= 0x7e ? 'text' : 'sequence'
  if (state === 'string-escape') return 'text'
  if (code === 0x07 || code === 0x9c) return 'text'
  return code === escapeCode ? 'string-escape' : 'string'
}

function isHarmless(code: number): boolean {
  if (code === 0x0a || code === 0x09) return true
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return false
  // Bidirectional marks, embeddings, overrides and isolates; line and paragraph separators.
  return !(code === 0x061c || code === 0x200e || code === 0x200f || isBetween(code, 0x2028, 0x202e)) && !isTail(code)
}

function isTail(code: number): boolean {
  // Isolates; tag characters, which hide text; lone surrogates.
  return isBetween(code, 0x2066, 0x2069) || isBetween(code, 0xe0000, 0xe007f) || isBetween(code, 0xd800, 0xdfff)
}

function isBetween(code: number, first: number, last: number): boolean {
  return code >= first && code <= last
}

import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import type { Line } from '../../terminal/edit-line.ts'
import { terminalLine } from '../../terminal/text.ts'

/** What the word before the cursor may become. */
export interface Completion {
  /** Where the word begins. */
  from: number
  words: readonly string[]
}

export interface Completer {
  /** With their slash. */
  commands: readonly string[]
  /** Of an argument: ids of agents, sessions. Undefined: it takes none that is known. */
  argumentsOf(command: string): Promise<readonly string[]> | 'files' | undefined
}

const maxFiles = 1000

/** Undefined where there is nothing to complete. */
export async function complete({ text, cursor }: Line, completer: Completer): Promise<Completion | undefined> {
  const before = text.slice(0, cursor)
  const [, command, gap, argument] = /^(\/[a-z]*)(\s+)?(.*)$/s.exec(before) ?? []
  if (command !== undefined && gap === undefined && argument === '') return fitting(0, command, completer.commands)
  const mention = /(?<![^\s([{])@(?:"([^"\n]*)|([^\s"']*))$/.exec(before)
  if (mention !== null) {
    const path = mention[1] ?? mention[2] ?? ''
    const files = await filesFor(path)
    return fitting(mention.index, '', files.map(asMention))
  }
  if (command === undefined || gap === undefined || argument === undefined) return undefined
  const known = completer.argumentsOf(command)
  const from = command.length + gap.length
  if (known === 'files') return fitting(from, '', await filesFor(argument.replace(/\\ /g, ' ')), escaped)
  return known === undefined ? undefined : fitting(from, argument, (await known).filter(isShown))
}

/** The line with what all words have in common; the same one if that is there already. */
export function completed(line: Line, { from, words }: Completion): Line {
  const { text, cursor } = line
  const [only] = words
  const isWhole = words.length === 1 && only !== undefined && !/[/\\]"?$/.test(only)
  const word = isWhole ? `${only} ` : commonStart(words)
  if (word.length <= cursor - from && text.slice(from, cursor).startsWith(word)) return line
  return {
    text: text.slice(0, from) + word + text.slice(cursor).replace(/^ /, isWhole ? '' : ' '),
    cursor: from + word.length,
  }
}

function fitting(
  from: number,
  start: string,
  all: readonly string[],
  shape: (word: string) => string = (word) => word,
): Completion | undefined {
  const words = all.filter((word) => word.startsWith(start)).map(shape)
  return words.length === 0 ? undefined : { from, words }
}

/** The paths that begin so; folders end with a slash. */
async function filesFor(start: string): Promise<string[]> {
  const slash = start.lastIndexOf('/') + 1
  const [folder, name] = [start.slice(0, slash), start.slice(slash)]
  const place = folder.startsWith('~/') ? homedir() + folder.slice(1) : folder === '' ? '.' : folder
  try {
    const found = await readdir(place, { withFileTypes: true })
    return found
      .filter((entry) => entry.name.startsWith(name) && (name !== '' || !entry.name.startsWith('.')))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .filter(isShown)
      .sort()
      .slice(0, maxFiles)
  } catch {
    return []
  }
}

/** A name that would change the terminal or the line is never offered. */
function isShown(word: string): boolean {
  return terminalLine(word) === word && !word.includes('"')
}

function asMention(path: string): string {
  if (!/[\s'"]/.test(path)) return `@${path}`
  return path.endsWith('/') ? `@"${path}` : `@"${path}"`
}

function escaped(path: string): string {
  return process.platform === 'win32' ? path : path.replace(/[\s'"\\]/g, '\\$&')
}

function commonStart(words: readonly string[]): string {
  let start = words[0] ?? ''
  for (const word of words) while (!word.startsWith(start)) start = start.slice(0, -1)
  // Never half a character.
  return start.isWellFormed() ? start : start.slice(0, -1)
}

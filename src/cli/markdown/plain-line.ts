import { terminalLine } from '../terminal/text.ts'

const atLineStart = /^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)/gm
const tableRule = /^(?=.*--)[ \t|:-]+$/gm
const link = /!?\[([^\][]*)\]\([^()\s]*(?:\s+"[^"]*")?\)/g
const emphasis = /(?<![\p{L}\p{N}*_\\])([*_])(?![\s*_])([^*_\n]+?)(?<!\s)\1(?![\p{L}\p{N}*_])/gu

/** Markdown, or a piece of it, as a line of words: for a preview, where no mark of the source may stay. */
export function plainLine(markdown: string): string {
  return terminalLine(
    markdown
      .replace(/^[ \t]*(?:`{3,}|~{3,}).*$/gm, '')
      .replace(tableRule, '')
      .replace(atLineStart, '')
      .replace(link, '$1')
      .replace(/\*\*|~~|`+|(?<![\p{L}\p{N}])__|__(?![\p{L}\p{N}])/gu, '')
      .replace(emphasis, '$2')
      .replace(/^[ \t]*\||\|[ \t]*$/gm, '')
      .replace(/[ \t]\|[ \t]/g, ' · ')
      .replace(/\\([\\`*_{}[\]()#+\-.!|~>])/g, '$1'),
  )
}

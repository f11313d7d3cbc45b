/** What the page leaves at its default: with these, the minifier drops what asks for them. */
const options: readonly [option: string, value: string][] = [
  ['pedantic', 'false'],
  ['breaks', 'false'],
  ['gfm', 'true'],
  ['silent', 'false'],
  ['extensions', 'undefined'],
  ['hooks', 'undefined'],
]

/** The function that makes most of the library's rules. A call of it that nobody needs can be left out. */
export const ruleMaker = 'markedRule'

/**
 * The lexer of marked, with the rules that the page uses. The library makes its parser, its renderer and the rules of other
 * kinds of Markdown at the start, so that no build can leave them out. Throws when its file looks otherwise than this expects.
 */
export function lexerOf(marked: string): string {
  const end = marked.search(/var \w+=new \w+;function \w+\(\w+,\w+\)\{return \w+\.parse\(/)
  const lexer = found(/\b(\w+) as Lexer\b/, marked)
  const maker = found(/function (\w+)\(\w+,\w+=""\)\{let \w+=typeof/, marked)
  let code = replaced(
    marked.slice(0, end),
    /(\w+)=\{normal:\w+,gfm:(\w+),pedantic:\w+\},(\w+)=\{normal:\w+,gfm:(\w+),breaks:\w+,pedantic:\w+\}/,
    '$1={gfm:$2},$3={gfm:$4}',
  )
  code = replaced(code, new RegExp(`(?<![\\w$.\\\\])${maker}\\(`, 'g'), `${ruleMaker}(`)
  for (const [option, value] of options) code = replaced(code, new RegExp(`this\\.options\\.${option}\\b`, 'g'), value)
  return `${code}export{${lexer} as Lexer};`
}

function found(pattern: RegExp, text: string): string {
  const [, name] = pattern.exec(text) ?? []
  if (name === undefined) throw new Error(`marked has another form: nothing is like ${pattern}`)
  return name
}

function replaced(text: string, pattern: RegExp, by: string): string {
  const result = text.replace(pattern, by)
  if (result === text) throw new Error(`marked has another form: nothing is like ${pattern}`)
  return result
}

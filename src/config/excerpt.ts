import { readFileSync } from 'node:fs'

/** The line and two around it, numbered, the line marked, without passwords; undefined if the file or the line does not exist. */
export function excerptOf(file: string, line: number, column?: number): string | undefined {
  let lines: string[]
  try {
    lines = readFileSync(file, 'utf8').split(/\r?\n/)
  } catch {
    return undefined
  }
  if (line < 1 || line > lines.length) return undefined
  const first = Math.max(1, line - 2)
  const last = Math.min(lines.at(-1) === '' && line < lines.length ? lines.length - 1 : lines.length, line + 2)
  const width = String(last).length
  const shown: string[] = []
  for (let number = first; number <= last; number++) {
    const text = withoutPasswords(lines[number - 1] ?? '').slice(0, 200)
    shown.push(`${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${text}`)
    if (number === line && column !== undefined) shown.push(`  ${' '.repeat(width)} | ${' '.repeat(column - 1)}^`)
  }
  return shown.join('\n')
}

/** Those in addresses; the columns stay. */
function withoutPasswords(text: string): string {
  return text.replace(/(\b[a-z]+:\/\/[^\s'"`:@/]*:)([^\s'"`]+)(?=@)/gi, (_, before: string, password: string) => {
    return before + '*'.repeat(password.length)
  })
}

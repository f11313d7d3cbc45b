/** Borders of quotes and tables, and invisible characters, which terminals show as nothing. */
const layout = /[│─┼]|\p{Default_Ignorable_Code_Point}/gu

/**
 * Where lines of a terminal differ from the text that they must show; undefined: each character is there once, words are apart,
 * and words are broken at ends of lines only.
 */
export function differs(lines: readonly string[], shows: string): string | undefined {
  const screen = visible(lines.map((line) => line.trimEnd()).join('\n'))
  const wanted = visible(shows).trim()
  let at = screen.search(/\S/)
  if (at === -1) at = screen.length
  const fail = (why: string, place: number) =>
    `${why} at ${JSON.stringify(wanted.slice(Math.max(0, place - 30), place + 20))}: ` +
    `the terminal shows ${JSON.stringify(screen.slice(Math.max(0, at - 30), at + 20))}`
  for (let place = 0; place < wanted.length; ) {
    const [gap = ''] = /^\s*/.exec(screen.slice(at, at + 400)) ?? []
    const [space = ''] = /^\s*/.exec(wanted.slice(place, place + 400)) ?? []
    if (space !== '' && gap === '') return fail('two words are one', place)
    if (space === '' && gap !== '' && !gap.includes('\n')) return fail('a word is two', place)
    at += gap.length
    place += space.length
    if (screen[at] !== wanted[place]) return fail('a character differs', place)
    at++
    place++
  }
  return screen.slice(at).trim() === '' ? undefined : fail('there is more', wanted.length)
}

function visible(text: string): string {
  return text.replaceAll(layout, '').normalize()
}

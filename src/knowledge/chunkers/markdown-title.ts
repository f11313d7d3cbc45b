/** Longer titles are cut first: the patterns take quadratic time. */
const longest = 1_000

/** The text of an ATX heading without closing marks, in linear time. */
export function headingText(text: string): string {
  const line = text.slice(0, longest).trimEnd()
  let end = line.length
  while (line[end - 1] === '#') end--
  const before = line[end - 1]
  return before === undefined || before === ' ' || before === '\t' ? line.slice(0, end).trimEnd() : line
}

export function plainTitle(text: string): string {
  return text
    .slice(0, longest)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(?<!\\)[`*]/g, '')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .trim()
    .slice(0, 200)
}

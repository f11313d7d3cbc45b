/** A number, or what marks a question: `2.1 Backups`, `Q: How do I …?`. */
const numbering = /^(?:(?:q|faq|\d{1,3})\s)+(?=\S+\s\S)/

/** The words of a text alone, in lower case, with one space between them. */
export function plainWords(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
}

/** The titles that a question asks for by name: itself, and what it has in quotation marks. Without those that have no word. */
export function askedTitles(question: string): string[] {
  const quoted = [...question.matchAll(/[“„«"]([^“”„«»"]{2,200})[”“»"]/g)].map(([, name = '']) => name)
  return [question, ...quoted].map(plainWords).filter((title) => title !== '')
}

/** Whether a heading is one of the titles that are asked for, word for word, with or without its number. */
export function isAskedTitle(asked: readonly string[], heading: string): boolean {
  const title = plainWords(heading)
  return asked.includes(title) || asked.includes(title.replace(numbering, ''))
}

/** The most characters of one text that a host gets: about 50,000 tokens, more than most hosts give their model. */
export const mostCharacters = 200_000

/** `cut`: a part was left out. Never between the two halves of a character. */
export function cut(text: string, most = mostCharacters): { text: string; cut: boolean } {
  if (text.length <= most) return { text, cut: false }
  const last = text.charCodeAt(most - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  return { text: text.slice(0, isHalf ? most - 1 : most), cut: true }
}

/** Text from agents and documents for a person to read: control characters could hide or rewrite a part of it. */
export function readable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}

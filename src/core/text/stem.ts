const english = /^[a-z]{3,}$/
const pluralOfSound = /(?:ss|i)es$/
const plural = /[^su]s$/
const ending = /^(.*[aeiouy].*?)(?:ed|ing)$/
const withoutE = /(?:at|bl|iz)$/
/** Not the whole of a word such as `add`. */
const doubled = /..([^aeiouylsz])\1$/
const short = /^[^aeiou]*[aeiouy][^aeiouwxy]$/
/** A stem becomes at most so much longer: `set`, `settings`. */
export const longestEnding = 5

/**
 * What the inflected forms of an English word have in common: `retries`, `retried` and `retry` give `retri`. The first step
 * of Porter's algorithm, and no `e` at the end. Words of other scripts, with digits or accents are their own stems.
 */
export function stemOf(word: string): string {
  if (!english.test(word) || word.length > maxLength) return word
  let stem = word
  if (pluralOfSound.test(stem)) stem = stem.slice(0, -2)
  else if (plural.test(stem)) stem = stem.slice(0, -1)
  stem = stem.endsWith('eed') ? withoutD(stem) : withoutEnding(stem)
  if (stem.endsWith('y') && /[aeiouy]/.test(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`
  return stem.length > 3 && stem.endsWith('e') ? stem.slice(0, -1) : stem
}

/** Longer ones are data, and patterns would take long. */
const maxLength = 40

/** `agreed`, but not `feed`. */
function withoutD(word: string): string {
  return word.length > 4 ? word.slice(0, -1) : word
}

function withoutEnding(word: string): string {
  const rest = ending.exec(word)?.[1]
  if (rest === undefined) return word
  if (withoutE.test(rest)) return `${rest}e`
  if (doubled.test(rest)) return rest.slice(0, -1)
  return short.test(rest) ? `${rest}e` : rest
}

/** All words with the same stem begin so. */
export function beginningOf(stem: string): string {
  return stem.replace(/[ie]$/, '')
}

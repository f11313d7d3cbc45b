/**
 * What people say in several words, or ask for by an adjective, and what documentation calls it. Their own words are dropped
 * from a query, as `own` and `off`, or mean something else alone, as `turn`, `big` and `rid`.
 */
const idioms: readonly (readonly [said: RegExp, meant: readonly string[]])[] = [
  [/\b(?:my|our|your|its|their|one's) own\b/iu, ['custom']],
  [/\b(?:turn|switch)(?:e?s|ed|ing)?\b[^.?!]{0,60}?\boff\b/iu, ['disable']],
  [/\b(?:turn|switch)(?:e?s|ed|ing)?\b[^.?!]{0,60}?\bon\b/iu, ['enable']],
  [/\bg(?:et|ets|etting|ot) rid of\b/iu, ['delete', 'remove']],
  [/\b(?:how|too|so) (?:big|large)\b/iu, ['size']],
  [/\btoo long\b|\bhow long\b[^.?!]{0,60}?\b(?:take|wait)/iu, ['timeout']],
]

/** Words that a query means besides those that it has; none for most. English alone. */
export function meantBy(query: string): string[] {
  return idioms.flatMap(([said, meant]) => (said.test(query) ? meant : []))
}

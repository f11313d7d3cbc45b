import { sourceMatcher } from './source-pattern.ts'

/** What the scores of a source's passages are multiplied by. */
export type SourceWeights = (source: string) => number

export const usualWeight = 1
/** They repeat in short what the documents say, and tell of versions that nobody runs any more. */
export const changelogWeight = 0.7
const versioned = /[-._ ]?v?\d[\w.-]*/.source
const name = /(?:changelogs?|changes|history|news|releases?[-_ ]?notes?|what'?s[-_ ]?new)/.source
/** As a file, also of one version, or as a folder. */
const changelog = new RegExp(`(?:^|/)${name}(?:${versioned})?(?:\\.[a-z]+)?(?:$|[/?#])`, 'i')

/**
 * The first pattern that a source matches decides (see `sourceMatcher`); without one, changelogs and release notes weigh less.
 */
export function sourceWeights(given: Readonly<Record<string, number>> = {}): SourceWeights {
  const rules = Object.entries(given).map(([pattern, weight]) => ({ matches: sourceMatcher(pattern), weight }))
  return (source) => {
    const rule = rules.find(({ matches }) => matches(source))
    return rule?.weight ?? (changelog.test(source) ? changelogWeight : usualWeight)
  }
}

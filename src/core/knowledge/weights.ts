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
 * The first pattern that a source matches decides; without one, changelogs and release notes weigh less. `*` and `?` stand for
 * characters of a name, `**` for folders too, `{a,b}` for either. A pattern without `/` is for the file's name. Case does not matter.
 */
export function sourceWeights(given: Readonly<Record<string, number>> = {}): SourceWeights {
  const rules = Object.entries(given).map(([pattern, weight]) => ({ matches: toExpression(pattern), weight }))
  return (source) => {
    const rule = rules.find(({ matches }) => matches.test(source))
    return rule?.weight ?? (changelog.test(source) ? changelogWeight : usualWeight)
  }
}

const parts = /\*\*\/|\*\*|\*|\?|\{([^{}]*)\}|[\s\S]/g

function toExpression(pattern: string): RegExp {
  const expression = pattern
    .replace(/^\.\//, '')
    .replace(/\/$/, '/**')
    .replaceAll(parts, (part, choices: string | undefined) => {
      if (choices !== undefined) return `(?:${choices.split(',').map(toPart).join('|')})`
      return toPart(part)
    })
  return new RegExp(`^${pattern.includes('/') ? '' : '(?:.*/)?'}${expression}$`, 'is')
}

function toPart(part: string): string {
  if (part === '**/') return '(?:.*/)?'
  if (part === '**') return '.*'
  if (part === '*') return '[^/]*'
  if (part === '?') return '[^/]'
  return part.length > 1 ? part.replaceAll(parts, (each) => toPart(each)) : part.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')
}

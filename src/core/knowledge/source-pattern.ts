const parts = /\*\*\/|\*\*|\*|\?|\{([^{}]*)\}|[\s\S]/g

/**
 * Whether a source has this name or pattern. `*` and `?` stand for characters of a name, `**` for folders too, `{a,b}` for either. A
 * pattern without `/` is for the file's name; one that ends with `/` is for all below it. Case does not matter.
 */
export function sourceMatcher(pattern: string): (source: string) => boolean {
  const expression = pattern
    .replace(/^\.\//, '')
    .replace(/\/$/, '/**')
    .replaceAll(parts, (part, choices: string | undefined) => {
      if (choices !== undefined) return `(?:${choices.split(',').map(toPart).join('|')})`
      return toPart(part)
    })
  const whole = new RegExp(`^${pattern.includes('/') ? '' : '(?:.*/)?'}${expression}$`, 'is')
  return (source) => whole.test(source)
}

function toPart(part: string): string {
  if (part === '**/') return '(?:.*/)?'
  if (part === '**') return '.*'
  if (part === '*') return '[^/]*'
  if (part === '?') return '[^/]'
  return part.length > 1 ? part.replaceAll(parts, (each) => toPart(each)) : part.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')
}

import type { Heading, OpenSections } from '../../core/knowledge/drivers.ts'

/** The titles above a position, outermost first. Call it with ascending positions. `above` changes with them. */
export function headingPaths(
  outline: readonly Heading[] = [],
  above: OpenSections = { path: [] },
): (at: number) => string[] {
  const open = above.path
  let next = 0
  return (at) => {
    for (let heading = outline[next]; heading && heading.start <= at; heading = outline[++next]) {
      while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop()
      open.push({ level: heading.level, title: heading.title })
    }
    return open.map((heading) => heading.title)
  }
}

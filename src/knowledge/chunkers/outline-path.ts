import type { Heading } from '../../core/knowledge/drivers.ts'

/** The titles above a position, outermost first. Call it with ascending positions. */
export function headingPaths(outline: readonly Heading[] = []): (at: number) => string[] {
  const open: Heading[] = []
  let next = 0
  return (at) => {
    for (let heading = outline[next]; heading && heading.start <= at; heading = outline[++next]) {
      while ((open.at(-1)?.level ?? 0) >= heading.level) open.pop()
      open.push(heading)
    }
    return open.map((heading) => heading.title)
  }
}

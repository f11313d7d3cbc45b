const runsAtOnce = 1000

/** The first sessions that fit one short commit; at least one. */
export function takeSmall(due: readonly { id: string; runs: number }[]): string[] {
  const taken: string[] = []
  let runs = 0
  for (const session of due) {
    runs += session.runs
    if (taken.length > 0 && runs > runsAtOnce) break
    taken.push(session.id)
  }
  return taken
}

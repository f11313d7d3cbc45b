const runsAtOnce = 1000

/** Of sessions in their order as many as go in one commit that holds up nobody for long; at least one. */
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

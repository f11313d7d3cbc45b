import type { Run } from '../../wire/run.ts'

/** By the run of a turn: all runs that have had its place, oldest first. Only where there are several. */
export type BranchesOf = ReadonlyMap<string, readonly string[]>

/** `runs`: those that were replaced among them, in the order of their start. */
export function branchesOf(runs: readonly Pick<Run, 'run_id' | 'replaced_by' | 'created_at'>[]): BranchesOf {
  const replacedBy = Map.groupBy(runs, ({ replaced_by }) => replaced_by)
  const branches = new Map<string, string[]>()
  for (const turn of replacedBy.get(null) ?? []) {
    const chain = [turn]
    // The first that a run replaced had its place; the others came after that.
    for (let next = replacedBy.get(turn.run_id)?.[0]; next !== undefined && !chain.includes(next); ) {
      chain.push(next)
      next = replacedBy.get(next.run_id)?.[0]
    }
    const inOrder = chain.toSorted((one, other) => one.created_at.localeCompare(other.created_at))
    if (chain.length > 1)
      branches.set(
        turn.run_id,
        inOrder.map(({ run_id }) => run_id),
      )
  }
  return branches
}

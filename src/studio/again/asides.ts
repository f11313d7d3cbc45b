import { useEffect, useMemo } from 'preact/hooks'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'

/** Whoever calls it is drawn again with each event of the runs; parts inside have to call it too. */
export function heed(...runs: readonly (OpenedRun | undefined)[]): void {
  for (const run of runs) void run?.events.changes.value
}

/** The runs of these ids, each kept up to date for as long as it is among them. */
export function useAsides(studio: Studio, ids: readonly string[]): readonly OpenedRun[] {
  const { chats } = studio
  // biome-ignore lint/correctness/useExhaustiveDependencies: with other chats, the server is asked with another key
  const open = useMemo(() => new Map<string, OpenedRun>(), [chats])
  const shown = ids.map((id) => {
    const opened = open.get(id) ?? chats.openAside(id)
    open.set(id, opened)
    return opened
  })
  const keep = (kept: readonly string[]) => {
    for (const [id, opened] of open) {
      if (kept.includes(id)) continue
      chats.closeAside(opened)
      open.delete(id)
    }
  }
  useEffect(() => keep(ids))
  // biome-ignore lint/correctness/useExhaustiveDependencies: these runs are of the chats that they were opened with
  useEffect(() => () => keep([]), [open])
  return shown
}

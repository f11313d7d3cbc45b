import { useEffect, useMemo } from 'preact/hooks'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'

/** In place of the conversation, of a run that is looked at without one. */
export const alone = { wasAnswered: async () => false }

/** Whoever calls it is drawn again when anything in the runs changes; parts inside have to call it too. */
export function heed(...runs: readonly OpenedRun[]): void {
  for (const { run, events, tree, isMissing, error } of runs)
    for (const { value } of [run, events.changes, tree.shape, isMissing, error]) void value
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
  const names = ids.join()
  useEffect(() => {
    for (const [id, opened] of open) {
      if (names.split(',').includes(id)) continue
      chats.closeAside(opened)
      open.delete(id)
    }
  }, [chats, open, names])
  useEffect(
    () => () => {
      for (const opened of open.values()) chats.closeAside(opened)
      open.clear()
    },
    [chats, open],
  )
  return shown
}

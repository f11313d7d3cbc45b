import type { ToolSet } from 'ai'
import type { Runnable } from '../../core/runnable.ts'
import type { CheckedAgent } from '../agent/schema.ts'
import type { Defaults } from '../base/defaults.ts'
import { decideApprovals } from './approvals.ts'
import { byName, type CheckedSource, type CheckPlace, type OpenedTool, sourceOf, toToolName } from './source.ts'

/** An entry of an agent's `tools` whose tools are only known after a request. */
export interface ToolEntry {
  entry: string
  /** Lists its tools. Throws what would fail a run of the agent. */
  check(at: CheckPlace): Promise<CheckedSource>
}

const mark = Symbol.for('agentserve.toolEntries')

/** Lets `toolEntriesOf` find the entries of an entity. */
export function withToolEntries<T extends Runnable>(entity: T, entries: readonly ToolEntry[]): T {
  if (entries.length > 0) Object.defineProperty(entity, mark, { value: entries })
  return entity
}

export function toolEntriesOf(entity: Runnable): readonly ToolEntry[] {
  return (entity as { [mark]?: readonly ToolEntry[] })[mark] ?? []
}

export function toolEntries({ tools = {}, toolApproval, prepareCall }: CheckedAgent, defaults: Defaults): ToolEntry[] {
  return Object.entries(tools).flatMap(([entry, tool]) => {
    const source = sourceOf(tool)
    const ask = source?.check?.bind(source)
    if (ask === undefined) return []
    return [
      {
        entry,
        async check(at) {
          const checked = await ask(entry, at, defaults)
          const opened = byName(checked.tools.map((one): OpenedTool => ({ ...one, entry, name: toToolName(one.name) })))
          if (typeof toolApproval === 'object' && prepareCall === undefined) {
            // A name that could belong to several entries is checked in a run, which opens them all.
            const theirs = Object.entries(toolApproval).filter(
              ([name]) => name === entry || isOnlyOf(entry, name, tools),
            )
            decideApprovals(Object.fromEntries(theirs), opened, tools)
          }
          return checked
        },
      } satisfies ToolEntry,
    ]
  })
}

function isOnlyOf(entry: string, name: string, tools: ToolSet): boolean {
  const possible = Object.keys(tools).filter((key) => name === key || name.startsWith(toToolName(`${key}_`)))
  return possible.length === 1 && possible[0] === entry
}

import type { ToolSet } from 'ai'
import { AppError } from '../../core/error.ts'
import type { RunContext } from '../../core/runnable.ts'
import type { Defaults } from '../base/defaults.ts'

/** A tool that a source brings. */
export interface SourceTool {
  /** What it is called for the model; letters that providers don't take are replaced, and the end is cut off. */
  name: string
  /** What the source itself calls it. */
  own: string
  tool: ToolSet[string]
  /** Stands for what the source says of the tool; absent where that can't change. */
  hash?: string | undefined
  /** Why every call of it has to be allowed by somebody, whatever the agent's settings say. */
  asks?: string | undefined
}

/** An entry of `tools` that stands for tools which are known only when a run begins. */
export interface ToolSource {
  /** Its tools act outside this process, so a test may put recorded answers in their place. */
  outside?: boolean
  /** All the names that its tools can have; absent: they begin with the entry's key and are known once it is opened. */
  names?(key: string): readonly string[]
  /** Only some of its tools are known, so a name that none of them has may be right. */
  partial?: boolean
  /** Looked at when the config is read; throws `invalid_request` for what the config lacks. */
  claim?(defaults: Defaults): void
  /** The tools for one run; `key` is the entry's own name. */
  open(key: string, context: RunContext, defaults: Defaults): Promise<readonly SourceTool[]>
  /** Looks at its tools without a run. Throws what `open` would throw. */
  check?(key: string, at: CheckPlace, defaults: Defaults): Promise<CheckedSource>
}

export type CheckPlace = Pick<RunContext, 'logger' | 'signal'>

/** What was found behind an entry. */
export interface CheckedSource {
  /** Who brings the tools. */
  from: string
  tools: readonly SourceTool[]
  /** Takes all tools for what they say of themselves now. */
  accept(): Promise<void>
}

const mark = Symbol.for('agentserve.toolSource')

/** Makes a source look like a tool, so that it can stand in `tools` beside others. */
export function toolSource<T extends object>(look: T, source: ToolSource): T & ToolSet[string] {
  Object.defineProperty(look, mark, { value: source })
  if (!('inputSchema' in look)) Object.defineProperty(look, 'inputSchema', { value: refuse, enumerable: true })
  return look as T & ToolSet[string]
}

/** What somebody else's agent meets who takes it for a plain tool. */
function refuse(): never {
  throw new AppError('run_failed', "This is a source of tools. It works only in `tools` of agentserve's agent().")
}

/** What stands behind an entry of `tools` that is no plain tool. */
export function sourceOf(tool: object): ToolSource | undefined {
  return (tool as { [mark]?: ToolSource })[mark]
}

/** Lets the sources among these tools look at the config. */
export function claimTools(tools: ToolSet | undefined, defaults: Defaults): void {
  for (const tool of Object.values(tools ?? {})) sourceOf(tool)?.claim?.(defaults)
}

/** A tool of a run, and where it comes from. */
export interface OpenedTool extends SourceTool {
  /** The key of `tools` under which it, or its source, stands. */
  entry: string
}

/** The tools of one run, by the names that the model calls them by. */
export type OpenedTools = ReadonlyMap<string, OpenedTool>

/**
 * Plain tools as they are, sources opened, all at once; `own` are tools of ours beside the agent's. Throws `run_failed` when two would have the same name: an approval
 * that is meant for one of them could belong to the other.
 */
export async function openTools(
  tools: ToolSet,
  own: ToolSet | undefined,
  context: RunContext,
  defaults: Defaults,
): Promise<OpenedTools> {
  const opening = [...Object.entries(tools), ...Object.entries(own ?? {})].map(
    async ([entry, tool]): Promise<OpenedTool[]> => {
      const source = sourceOf(tool)
      if (source === undefined) return [{ name: entry, own: entry, entry, tool }]
      const opened = await source.open(entry, context, defaults)
      return opened.map((one) => ({ ...one, entry, name: toToolName(one.name) }))
    },
  )
  return byName((await Promise.all(opening)).flat())
}

/** By name. Throws `run_failed` when two have the same. */
export function byName(tools: readonly OpenedTool[]): OpenedTools {
  const all = new Map<string, OpenedTool>()
  for (const tool of tools) {
    const other = all.get(tool.name)
    if (other !== undefined) {
      throw new AppError(
        'run_failed',
        `The ${placeOf(other)} and the ${placeOf(tool)} have the same name for the model, '${tool.name}'. Give one of the entries another key in \`tools\`.`,
      )
    }
    all.set(tool.name, tool)
  }
  return all
}

/** As the AI SDK takes them. */
export function toToolSet(opened: OpenedTools): ToolSet {
  return Object.fromEntries([...opened].map(([name, { tool }]) => [name, tool]))
}

function placeOf({ entry, own, name }: OpenedTool): string {
  return own === entry && own === name ? `tool '${own}'` : `tool '${own}' of the entry '${entry}'`
}

const longestName = 64

/** The name in the letters that providers accept. */
export function toToolName(wanted: string): string {
  return wanted.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, longestName)
}

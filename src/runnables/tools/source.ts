import type { ToolSet } from 'ai'
import { AppError } from '../../core/error.ts'
import type { RunContext } from '../../core/runnable.ts'
import type { Defaults } from '../base/defaults.ts'

export interface SourceTool {
  /** The name for the model; invalid characters are replaced, and the end is cut off. */
  name: string
  /** The source's own name for it. */
  own: string
  tool: ToolSet[string]
  /** A hash of the tool's description; absent where that can't change. */
  hash?: string | undefined
  /** Why every call needs an approval, whatever the agent's settings say. */
  asks?: string | undefined
  /** It only searches, or acts in a run of its own, which has the rules of the run around it. */
  isInside?: boolean | undefined
}

/** A tool that is described, and not called. */
export interface DescribedTool {
  name: string
  tool: Pick<ToolSet[string], 'description' | 'inputSchema' | 'needsApproval'>
}

/** An entry of `tools` whose tools are only known when a run begins. */
export interface ToolSource {
  /** Its tools act outside this process, so a test may replace them with recorded answers. */
  outside?: boolean
  /** All names that its tools can have; absent: they begin with the entry's key and are known once it is opened. */
  names?(key: string): readonly string[]
  /** Only some of its tools are known, so an unknown name may still be right. */
  partial?: boolean
  /** Called when the config is loaded; throws `invalid_request` for anything that is missing in the config. */
  claim?(defaults: Defaults): void
  /** The tools for one run; `key` is the entry's own name. */
  open(key: string, context: RunContext, defaults: Defaults): Promise<readonly SourceTool[]>
  /** What is known of its tools without a run and without a request; undefined: nothing. */
  describe?(key: string, defaults: Defaults): Promise<readonly DescribedTool[] | undefined>
  /** Checks its tools without a run. Throws what `open` would throw. */
  check?(key: string, at: CheckPlace, defaults: Defaults): Promise<CheckedSource>
}

export type CheckPlace = Pick<RunContext, 'logger' | 'signal'>

export interface CheckedSource {
  /** The origin of the tools, for messages. */
  from: string
  tools: readonly SourceTool[]
  /** A sentence for each tool that the settings choose and that is not there. */
  unknown: readonly string[]
  /** Confirms the present descriptions of all tools. */
  accept(): Promise<void>
}

const mark = Symbol.for('agentserve.toolSource')

/** Makes a source look like a tool, so that it fits into `tools`. */
export function toolSource<T extends object>(look: T, source: ToolSource): T & ToolSet[string] {
  Object.defineProperty(look, mark, { value: source })
  if (!('inputSchema' in look)) Object.defineProperty(look, 'inputSchema', { value: refuse, enumerable: true })
  return look as T & ToolSet[string]
}

/** The error for a foreign agent that calls it as a plain tool. */
function refuse(): never {
  throw new AppError('run_failed', "This is a source of tools. It works only in `tools` of agentserve's agent().")
}

/** The source behind an entry of `tools`; undefined for a plain tool. */
export function sourceOf(tool: object): ToolSource | undefined {
  return (tool as { [mark]?: ToolSource })[mark]
}

/** Calls `claim` of the sources among these tools. */
export function claimTools(tools: ToolSet | undefined, defaults: Defaults): void {
  for (const tool of Object.values(tools ?? {})) sourceOf(tool)?.claim?.(defaults)
}

export interface OpenedTool extends SourceTool {
  /** The key of the tool or of its source in `tools`. */
  entry: string
  /** The caller executes it. */
  isClient?: boolean | undefined
}

/** The tools of one run, by the model's names. */
export type OpenedTools = ReadonlyMap<string, OpenedTool>

/**
 * Opens all sources at once and adds the plain tools; `own` are agentserve's tools beside the agent's. Throws
 * `run_failed` when two have the same name: an approval for one could apply to the other.
 */
export async function openTools(
  tools: ToolSet,
  own: ToolSet | undefined,
  context: RunContext,
  defaults: Defaults,
): Promise<OpenedTools> {
  const inside = Object.entries(own ?? {}).map(
    ([entry, tool]): OpenedTool => ({ name: entry, own: entry, entry, tool, isInside: true }),
  )
  const opening = Object.entries(tools).map(async ([entry, tool]): Promise<OpenedTool[]> => {
    const source = sourceOf(tool)
    if (source === undefined) return [{ name: entry, own: entry, entry, tool }]
    const opened = await source.open(entry, context, defaults)
    return opened.map((one) => ({ ...one, entry, name: toToolName(one.name) }))
  })
  return byName([...(await Promise.all(opening)).flat(), ...inside])
}

/** Throws `run_failed` when two have the same name. */
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

export function toToolSet(opened: OpenedTools): ToolSet {
  return Object.fromEntries([...opened].map(([name, { tool }]) => [name, tool]))
}

function placeOf({ entry, own, name }: OpenedTool): string {
  return own === entry && own === name ? `tool '${own}'` : `tool '${own}' of the entry '${entry}'`
}

const longestName = 64

/** The name in the characters that providers accept. */
export function toToolName(wanted: string): string {
  return wanted.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, longestName)
}

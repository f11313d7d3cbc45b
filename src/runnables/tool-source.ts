import type { ToolSet } from 'ai'
import { AppError } from '../core/error.ts'
import type { RunContext } from '../core/runnable.ts'
import type { Binding } from './binding.ts'

/** An entry of `tools` that stands for tools which are known only when a run begins. */
export interface ToolSource {
  /** Its tools act outside this process, so a test may put recorded answers in their place. */
  outside?: boolean
  /** Looked at when the config is read; throws `invalid_request` for what the config lacks. */
  claim?(binding: Binding): void
  /** The tools for one run, by the name that the model calls them by; `key` is the entry's own name. */
  open(key: string, context: RunContext, binding: Binding): Promise<ToolSet>
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
  throw new AppError('run_failed', 'This is a source of tools: it works in agent({ tools }) of agentserve alone.')
}

/** What stands behind an entry of `tools` that is no plain tool. */
export function sourceOf(tool: object): ToolSource | undefined {
  return (tool as { [mark]?: ToolSource })[mark]
}

/** Lets the sources among these tools look at the config. */
export function claimTools(tools: ToolSet | undefined, binding: Binding): void {
  for (const tool of Object.values(tools ?? {})) sourceOf(tool)?.claim?.(binding)
}

/** The tools of one run: plain ones as they are, sources opened, all at once. A plain tool keeps its name whatever a source brings. */
export async function openTools(tools: ToolSet | undefined, context: RunContext, binding: Binding): Promise<ToolSet> {
  const entries = Object.entries(binding.standIns?.tools?.(tools ?? {}) ?? tools ?? {})
  const plain = entries.filter(([, tool]) => sourceOf(tool) === undefined)
  if (plain.length === entries.length) return Object.fromEntries(entries)
  const opened = await Promise.all(entries.map(([key, tool]) => sourceOf(tool)?.open(key, context, binding)))
  const all: ToolSet = Object.fromEntries(plain)
  for (const set of opened) {
    for (const [name, tool] of Object.entries(set ?? {})) all[freeName(name, all)] = tool
  }
  return all
}

const longestName = 64

/** The name in the letters that providers accept. */
export function toToolName(wanted: string): string {
  return wanted.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, longestName)
}

/** A name that is not taken. */
function freeName(wanted: string, taken: ToolSet): string {
  const name = toToolName(wanted)
  if (!Object.hasOwn(taken, name)) return name
  for (let number = 2; ; number++) {
    const next = `${name.slice(0, longestName - 4)}_${number}`
    if (!Object.hasOwn(taken, next)) return next
  }
}

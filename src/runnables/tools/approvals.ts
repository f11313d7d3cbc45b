import type { ToolSet } from 'ai'
import { AppError } from '../../core/error.ts'
import { wrong } from '../../schema/check.ts'
import { isObject, show } from '../../schema/field.ts'
import type { AnyAgentSettings } from '../agent/settings.ts'
import { hintAt, unknownTool } from './names.ts'
import { type OpenedTool, type OpenedTools, sourceOf, toToolName } from './source.ts'

export type ToolApproval = AnyAgentSettings['toolApproval']
type Decide = (...args: never[]) => unknown

const statuses: ReadonlySet<unknown> = new Set(['not-applicable', 'approved', 'denied', 'user-approval'])
const allowed =
  "'user-approval', 'approved', 'denied' or 'not-applicable', { type, reason }, or a function that gives one"

/** Refuses unknown decisions: the AI SDK would run the tool. */
export const problemOfApproval = (value: unknown): string | undefined => {
  if (typeof value === 'function') return undefined
  if (!isObject(value)) return `must be a function, or an object of decisions by tool, not ${show(value)}`
  const misfit = Object.entries(value).find(
    ([, decision]) => decision !== undefined && typeof decision !== 'function' && !isStatus(decision),
  )
  return misfit && `has for '${misfit[0]}' ${show(misfit[1])}; allowed: ${allowed}`
}

function isStatus(value: unknown): boolean {
  return statuses.has(value) || (isObject(value) && statuses.has(value.type))
}

/** The decisions by name; undefined for a function. */
function namedIn(approval: ToolApproval): [string, unknown][] | undefined {
  if (typeof approval === 'function') return undefined
  return Object.entries(approval ?? {}).filter(([, decision]) => decision !== undefined)
}

/** Throws `invalid_request` for a name that no tool can have. A source's names are checked when it is opened. */
export function checkApprovalNames(approval: ToolApproval, tools: ToolSet, more: readonly string[]): void {
  const known = [...more]
  const beginnings: string[] = []
  for (const [key, tool] of Object.entries(tools)) {
    known.push(key)
    const source = sourceOf(tool)
    if (source?.names !== undefined) known.push(...source.names(key).map(toToolName))
    else if (source !== undefined) beginnings.push(beginningOf(key))
  }
  for (const [name] of namedIn(approval) ?? []) {
    if (known.includes(name) || beginnings.some((beginning) => name.startsWith(beginning))) continue
    throw wrong(
      `toolApproval.${name}`,
      `agent(): \`toolApproval\` names '${name}', and there is no such tool${hintAt(name, [...new Set(known)]).replace(/\.$/, '')}`,
    )
  }
}

function beginningOf(entry: string): string {
  return toToolName(`${entry}_`)
}

/**
 * `toolApproval` in the AI SDK's form, by the model's names of the tools. A key is a tool, or all tools of that entry;
 * a tool's own name takes precedence. A tool with `asks` always needs approval, unless the settings deny it. Throws
 * `run_failed` for a name without a tool.
 */
export function decideApprovals(
  approval: ToolApproval,
  opened: OpenedTools,
  tools: ToolSet,
  more: readonly string[] = [],
): ToolApproval {
  const asking = [...opened.values()].some(({ asks }) => asks !== undefined)
  const named = namedIn(approval)
  if (named === undefined) {
    const decide = approval as unknown as (options: { toolCall: { toolName: string } }) => unknown
    const checked = async (options: { toolCall: { toolName: string } }) =>
      orAsk(checkStatus(await decide(options)), opened.get(options.toolCall.toolName))
    return checked as unknown as ToolApproval
  }
  if (named.length === 0 && !asking) return undefined
  const decisions = new Map(named)
  checkKeys(decisions, opened, tools, more)
  const byTool = [...new Set([...opened.keys(), ...more])].flatMap((name): [string, unknown][] => {
    const tool = opened.get(name)
    const decision = decisions.get(name) ?? (tool && decisions.get(tool.entry))
    if (decision === undefined && tool?.asks === undefined) return []
    return [[name, toDecision(decision, tool)]]
  })
  return Object.fromEntries(byTool) as ToolApproval
}

function toDecision(decision: unknown, tool: OpenedTool | undefined): unknown {
  if (typeof decision !== 'function') return orAsk(decision, tool)
  return async (...args: never[]) => orAsk(checkStatus(await (decision as Decide)(...args)), tool)
}

function orAsk(decision: unknown, tool: OpenedTool | undefined): unknown {
  const type = isObject(decision) ? decision.type : decision
  // The caller decides by executing it or not.
  if (tool?.isClient) return type === 'denied' ? decision : undefined
  if (tool?.asks === undefined) return decision
  return type === 'denied' ? decision : { type: 'user-approval', reason: tool.asks }
}

function checkStatus(status: unknown): unknown {
  if (status === undefined || status === null || isStatus(status)) return status
  throw new AppError('run_failed', `\`toolApproval\` gave ${show(status)}; allowed: ${allowed}, or nothing.`)
}

function checkKeys(
  decisions: ReadonlyMap<string, unknown>,
  opened: OpenedTools,
  tools: ToolSet,
  more: readonly string[],
): void {
  for (const name of decisions.keys()) {
    const tool = opened.get(name)
    if (Object.hasOwn(tools, name) && tool !== undefined && tool.entry !== name) {
      throw new AppError(
        'run_failed',
        `\`toolApproval\` names '${name}', which is the tool '${tool.own}' of the entry '${tool.entry}' and an entry of \`tools\`. Give the entry another key.`,
      )
    }
    if (tool !== undefined || Object.hasOwn(tools, name) || more.includes(name)) continue
    const entry = Object.keys(tools)
      .filter((key) => sourceOf(tools[key] as object) !== undefined && name.startsWith(beginningOf(key)))
      .toSorted((a, b) => b.length - a.length)[0]
    if (entry !== undefined && sourceOf(tools[entry] as object)?.partial === true) continue
    const known = [...new Set([...opened.keys(), ...Object.keys(tools), ...more])]
    if (entry === undefined) {
      throw new AppError(
        'run_failed',
        `\`toolApproval\` names '${name}', and there is no such tool${hintAt(name, known)}`,
      )
    }
    const theirs = [...opened.values()].filter((one) => one.entry === entry).map((one) => one.name)
    throw unknownTool(entry, '`toolApproval`', name, theirs)
  }
}

import type { FlexibleSchema, ToolSet } from 'ai'
import type { ToolConfig } from '../../core/entity/config.ts'
import type { JsonObject } from '../../core/json.ts'
import { isObject } from '../../schema/field.ts'
import type { Defaults } from '../base/defaults.ts'
import { loadSdk } from '../base/sdk.ts'
import type { ToolApproval } from './approvals.ts'
import { type DescribedTool, sourceOf, toToolName } from './source.ts'
import { textInput } from './text-input.ts'

/** The tools of an agent as an operator may read them. Connects to nothing: of a server that is not connected, its entry. */
export async function toolConfigs(tools: ToolSet, approval: ToolApproval, defaults: Defaults): Promise<ToolConfig[]> {
  const all = Object.entries(tools).map(async ([entry, tool]): Promise<ToolConfig[]> => {
    const known = await sourceOf(tool)?.describe?.(entry, defaults)
    if (known === undefined) return [await toConfig(entry, entry, tool, approval)]
    return Promise.all(known.map(({ name, tool: one }) => toConfig(toToolName(name), entry, one, approval)))
  })
  return (await Promise.all(all)).flat()
}

async function toConfig(
  name: string,
  entry: string,
  tool: DescribedTool['tool'],
  approval: ToolApproval,
): Promise<ToolConfig> {
  const { description, inputSchema, needsApproval } = tool
  const isSource = sourceOf(tool) !== undefined
  return {
    name,
    description: typeof description === 'string' ? description : null,
    input_schema: isSource ? null : await toJsonSchema(inputSchema),
    approval: approvalOf(decisionFor(approval, name, entry) ?? needsApproval),
  }
}

/** Null for a schema that has no JSON form. */
export async function toJsonSchema(schema: unknown): Promise<JsonObject | null> {
  if (schema === undefined) return null
  const { asSchema } = await loadSdk()
  try {
    return (await asSchema(schema as FlexibleSchema<unknown>).jsonSchema) as JsonObject
  } catch {
    return null
  }
}

/** The tools that an entity or a remote agent is, before a run. */
export async function textTool(
  name: string,
  description: string,
  ...input: Parameters<typeof textInput>
): Promise<DescribedTool[]> {
  return [{ name, tool: { description, inputSchema: await textInput(...input) } }]
}

function decisionFor(approval: ToolApproval, name: string, entry: string): unknown {
  if (typeof approval === 'function') return approval
  const decisions = approval as Record<string, unknown> | undefined
  return decisions?.[name] ?? decisions?.[entry]
}

function approvalOf(decision: unknown): ToolConfig['approval'] {
  if (typeof decision === 'function') return 'sometimes'
  const type = isObject(decision) ? decision.type : decision
  if (type === 'denied') return 'denied'
  return type === 'user-approval' || type === true ? 'always' : 'never'
}

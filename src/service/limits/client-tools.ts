import { type AppError, invalid } from '../../core/error.ts'
import { isLonger, type Limits, shownBytes, type ToolResultLimits } from '../../core/limits.ts'
import type { CallAnswer, ClientTool } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import { assertJsonSchema } from '../../schema/json-schema.ts'

/** Every provider accepts these. */
const soundName = /^[A-Za-z0-9_-]{1,64}$/

/** Throws `invalid_request` for client tools that this entity can't offer to its model. */
export async function checkClientTools(
  tools: readonly ClientTool[],
  runnable: Runnable,
  entityId: string,
  { clientTools: bounds }: Pick<Limits, 'clientTools'>,
): Promise<void> {
  if (tools.length === 0) return
  if (runnable.takes?.includes('client_tools') !== true) {
    throw invalid(
      `The ${runnable.kind} '${entityId}' takes no client tools. Only an agent({ … }) that answers with a model takes them.`,
      'client_tools',
    )
  }
  if (tools.length > bounds.count) throw tooMany(String(tools.length), 'count', String(bounds.count), 'Send fewer')
  const text = JSON.stringify(tools)
  if (isLonger(text, bounds.schemasBytes)) {
    const has = `${shownBytes(Buffer.byteLength(text))} as JSON`
    throw tooMany(has, 'schemas', shownBytes(bounds.schemasBytes), 'Send less')
  }
  const seen = new Set<string>()
  for (const [place, { name, parameters }] of tools.entries()) {
    const path = `client_tools.${place}`
    if (!soundName.test(name)) {
      throw invalid(`${path}.name must have 1 to 64 letters, digits, underscores and hyphens.`, `${path}.name`)
    }
    if (seen.has(name)) throw invalid(`${path}.name is '${name}', like an earlier client tool's.`, `${path}.name`)
    seen.add(name)
    const problem = runnable.clientToolProblem?.(name)
    if (problem !== undefined) {
      throw invalid(`${path}.name can't be '${name}': ${problem}. Give the client tool another name.`, `${path}.name`)
    }
    if (parameters.type !== undefined && parameters.type !== 'object') {
      throw invalid(`${path}.parameters.type must be 'object'.`, `${path}.parameters.type`)
    }
    await assertJsonSchema(parameters, `${path}.parameters`)
  }
}

/** Throws `invalid_request` for a result that is too large to be recorded: the run would fail. */
export function checkClientResults(
  answers: Readonly<Record<string, CallAnswer>>,
  { recordBytes }: ToolResultLimits,
): void {
  for (const [id, { output, error }] of Object.entries(answers)) {
    const field = output === undefined ? 'error' : 'output'
    const text = JSON.stringify(output === undefined ? { message: error } : output)
    if (!isLonger(text, recordBytes)) continue
    const has = shownBytes(Buffer.byteLength(text))
    throw invalid(
      `answers.${id}.${field} has ${has} as JSON, and the limit \`toolResult.record\` is ${shownBytes(recordBytes)}. Send less, or raise \`server.limits.toolResult.record\`.`,
      `answers.${id}.${field}`,
    )
  }
}

function tooMany(has: string, limit: string, most: string, way: string): AppError {
  return invalid(
    `\`client_tools\` has ${has}, and the limit \`clientTools.${limit}\` is ${most}. ${way}, or raise \`server.limits.clientTools.${limit}\`.`,
    'client_tools',
  )
}

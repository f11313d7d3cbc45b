import type { ToolSet } from 'ai'
import { AppError, messageOf } from '../../core/error.ts'
import { isLonger, shownBytes, type ToolResultLimits } from '../../core/limits.ts'
import { jsonText } from '../base/json-value.ts'
import type { ModelFiles } from '../files/model-files.ts'
import { storeResult, tellFiles } from '../files/results.ts'
import { WaitingCall } from './waiting-call.ts'

type Tool = ToolSet[string]
type Execute = (input: unknown, options: never) => unknown
type ToModelOutput = NonNullable<Tool['toModelOutput']>
type ModelOutput = Awaited<ReturnType<ToModelOutput>>

/**
 * The tool with checked results. A result that is not JSON or is too large for the record fails the call; what is too
 * large for the model is cut, with a note. Files of a result are stored, and the model gets their bytes.
 */
export function checkedResults(name: string, tool: Tool, limits: ToolResultLimits, files: ModelFiles): Tool {
  if (tool.execute === undefined) return tool
  const execute = tool.execute as unknown as Execute
  const own = tool.toModelOutput as ToModelOutput | undefined
  const check = async (output: unknown) => {
    const stored = await storeResult(output, files)
    checkResult(name, stored, own !== undefined, limits)
    // A conversion of its own expects what the tool gave.
    return own === undefined ? stored : output
  }
  const fail = (error: unknown): never => {
    throw tellable(name, error, limits)
  }
  const checked: Execute = (input, options) => {
    let result: unknown
    try {
      result = execute(input, options)
    } catch (error) {
      fail(error)
    }
    return Promise.resolve(result).then(check, fail)
  }
  const toModelOutput = async (options: Parameters<ToModelOutput>[0]): Promise<ModelOutput> => {
    const told = own === undefined ? usual(options.output) : await tell(name, own, options)
    const whole = told.type === 'content' ? { ...told, value: await files.resolve(told.value) } : told
    return clip(whole, limits.promptBytes)
  }
  return { ...tool, execute: checked, toModelOutput } as unknown as Tool
}

/** Throws for a result that can't be recorded. A tool that converts its result for the model may return any value. */
export function checkResult(name: string, output: unknown, isTold: boolean, { recordBytes }: ToolResultLimits): void {
  if (output instanceof WaitingCall) return
  let text: string | undefined
  try {
    text = typeof output === 'string' ? output : jsonText(output)
  } catch (cause) {
    if (isTold) return
    throw new AppError('run_failed', `The tool '${name}' returned a value that is not JSON: ${firstLine(cause)}.`, {
      cause,
    })
  }
  if (text === undefined || !isLonger(text, recordBytes)) return
  throw new AppError(
    'run_failed',
    `The tool '${name}' returned more than ${shownBytes(recordBytes)}, the limit \`toolResult.record\`. Ask it for less, or raise \`server.limits.toolResult.record\`.`,
  )
}

/** The AI SDK turns it into text, which fails for some values. */
function tellable(name: string, error: unknown, { promptBytes }: ToolResultLimits): unknown {
  const message = messageOf(error)
  const isError = error instanceof Error
  if (isError && !isLonger(message, promptBytes)) return error
  return new AppError('run_failed', cut(isError ? message : `The tool '${name}' failed: ${message}`, promptBytes), {
    cause: error,
  })
}

async function tell(name: string, own: ToModelOutput, options: Parameters<ToModelOutput>[0]): Promise<ModelOutput> {
  try {
    const told = await own(options)
    jsonText(told)
    return told
  } catch (cause) {
    const message = `The tool '${name}' failed in \`toModelOutput\`: ${firstLine(cause)}.`
    throw new AppError('run_failed', message, { cause })
  }
}

/** A result that a tool outside gave, as the model is told it. */
export function toldOutput(output: unknown, { promptBytes }: ToolResultLimits): ModelOutput {
  return clip(usual(output), promptBytes)
}

export function toldError(message: string, { promptBytes }: ToolResultLimits): ModelOutput {
  return clip({ type: 'error-text', value: message }, promptBytes)
}

function usual(output: unknown): ModelOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  return tellFiles(output) ?? { type: 'json', value: JSON.parse(JSON.stringify(output) ?? 'null') }
}

function clip(told: ModelOutput, bytes: number): ModelOutput {
  switch (told.type) {
    case 'text':
    case 'error-text':
      return isLonger(told.value, bytes) ? { ...told, value: cut(told.value, bytes) } : told
    case 'json':
    case 'error-json': {
      const text = JSON.stringify(told.value)
      if (!isLonger(text, bytes)) return told
      return { type: told.type === 'json' ? 'text' : 'error-text', value: cut(text, bytes) }
    }
    case 'content': {
      let rest = bytes
      const value = told.value.map((part) => {
        if (part.type !== 'text') return part
        const text = isLonger(part.text, rest) ? cut(part.text, rest) : part.text
        rest = Math.max(0, rest - Buffer.byteLength(text))
        return text === part.text ? part : { ...part, text }
      })
      return { ...told, value }
    }
    default:
      return told
  }
}

function cut(text: string, bytes: number): string {
  const kept = Buffer.from(text.slice(0, bytes))
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
  return `${kept}\n[Truncated: the first ${shownBytes(bytes)} of ${shownBytes(Buffer.byteLength(text))} are shown.]`
}

function firstLine(error: unknown): string {
  return messageOf(error).split('\n', 1)[0]?.replace(/\.$/, '') ?? ''
}

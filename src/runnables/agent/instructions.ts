import type { Instructions } from 'ai'
import { AppError } from '../../core/error.ts'
import type { RunContext, RunInput } from '../../core/runnable.ts'
import { isObject } from '../../schema/field.ts'
import { callOf } from './call.ts'
import type { AnyAgentSettings } from './settings.ts'

/** What the model is told in this run. Undefined: nothing. */
export async function instructionsFor(
  setting: AnyAgentSettings['instructions'],
  input: RunInput,
  context: RunContext,
): Promise<Instructions | undefined> {
  if (typeof setting !== 'function') return setting
  const given: unknown = await setting(callOf(input, context))
  if (given === undefined || isInstructions(given)) return given
  throw new AppError('run_failed', '`instructions` gave neither a text nor system messages.')
}

/** The text as the setting has it. Null without instructions, and where a function gives them. */
export function instructionsText(setting: AnyAgentSettings['instructions']): string | null {
  if (setting === undefined || typeof setting === 'function') return null
  const texts = [setting].flat().map((one) => (typeof one === 'string' ? one : one.content))
  return texts.join('\n\n')
}

function isInstructions(value: unknown): value is Instructions {
  if (typeof value === 'string') return true
  const messages = Array.isArray(value) ? value : [value]
  return messages.every((one) => isObject(one) && one.role === 'system' && typeof one.content === 'string')
}

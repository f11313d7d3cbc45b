import type { FlexibleSchema, ToolSet } from 'ai'
import type { z } from 'zod'
import { AppError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import type { EntityKind } from '../../core/run.ts'
import { isRunnable, type RunContext, type Runnable } from '../../core/runnable.ts'
import { checkSettings, wrong } from '../../schema/check.ts'
import { settings, string } from '../../schema/field.ts'
import { askEntity } from '../base/ask-scope.ts'
import { type Defaults, withDefaults } from '../base/defaults.ts'
import { contextHere } from '../base/run-context.ts'
import { loadSdk } from '../base/sdk.ts'
import { textTool } from './describe.ts'
import { type ToolSource, toolSource } from './source.ts'
import { textInput } from './text-input.ts'

const asToolSettings = settings({
  /** Tells the model when to use it. Default: the entity's own. */
  description: string().optional(),
})
export interface AsToolSettings extends z.input<typeof asToolSettings> {}

/**
 * An agent, a team or a workflow as a tool of an agent: the model asks it one question and gets its answer. Takes the id
 * of an entity of the same config, or the entity itself.
 */
export function asTool(entity: string | Runnable, given: AsToolSettings = {}): ToolSet[string] {
  if ((typeof entity !== 'string' || entity === '') && !isRunnable(entity)) {
    throw wrong('', 'asTool() needs the id of an agent, a team or a workflow, or one itself')
  }
  const { description } = checkSettings('asTool()', asToolSettings, given)
  const shown = description ?? (typeof entity === 'string' ? undefined : entity.description)
  return toolSource(shown === undefined ? {} : { description: shown }, entitySource(entity, description))
}

/** An entity that `tools` of an agent takes as it is. */
export interface Entity<KIND extends EntityKind = EntityKind> extends Runnable<KIND> {
  readonly description?: string
  readonly inputSchema: FlexibleSchema<never>
}

export function withToolLook<T extends Runnable>(entity: T): Omit<T, 'description'> & Look {
  return toolSource(entity, entitySource(entity)) as unknown as Omit<T, 'description'> & Look
}

type Look = Pick<Entity, 'description' | 'inputSchema'>

function entitySource(entity: string | Runnable, description?: string): ToolSource {
  const bound = new WeakMap<Defaults, Runnable>()
  const bind = (whole: Runnable, defaults: Defaults): Runnable => {
    const known = bound.get(defaults) ?? withDefaults(whole, defaults)
    bound.set(defaults, known)
    return known
  }
  return {
    names: (key) => [key],
    claim(defaults) {
      if (typeof entity !== 'string') bind(entity, defaults)
    },
    describe: (key) => {
      const own = typeof entity === 'string' ? undefined : entity
      return textTool(key, description ?? own?.description ?? `Asks '${own?.name ?? key}'.`, ...question)
    },
    async open(key, context, defaults) {
      const asked = typeof entity === 'string' ? context.entity(entity) : bind(entity, defaults)
      const name = typeof entity === 'string' ? entity : (entity.name ?? key)
      return [{ name: key, own: key, isInside: true, tool: await toTool(name, asked, context, description) }]
    },
  }
}

const question = ['question', 'What to ask, with all that it needs to know.'] as const

async function toTool(
  name: string,
  entity: Runnable,
  context: RunContext,
  description = entity.description ?? `Asks '${name}'.`,
): Promise<ToolSet[string]> {
  const { tool } = await loadSdk()
  return tool({
    description,
    inputSchema: await textInput(...question),
    async execute({ question }): Promise<Json> {
      const { ask } = contextHere(context)
      if (ask === undefined) throw new AppError('run_failed', `'${name}' can't be asked here.`)
      const { text, data, run } = await askEntity(ask, name, entity, question)
      const hasText = run.messages.some(({ role, parts }) => role === 'assistant' && parts.some(isText))
      return hasText || data === undefined ? text : data
    },
  })
}

function isText({ type }: { type: string }): boolean {
  return type === 'text'
}

import type { FlexibleSchema } from 'ai'
import { loadSdk } from '../base/sdk.ts'

/**
 * The input of a tool of ours: one text under this name. What a model gives instead is not executed; it is told what is
 * wrong. `description` is for the model.
 */
export async function textInput<NAME extends string>(
  name: NAME,
  description: string,
): Promise<FlexibleSchema<Record<NAME, string>>> {
  const { jsonSchema } = await loadSdk()
  return jsonSchema<Record<NAME, string>>(
    {
      type: 'object',
      properties: { [name]: { type: 'string', description } },
      required: [name],
      additionalProperties: false,
    },
    {
      validate: (value) => {
        const text: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
        if (typeof text === 'string') return { success: true, value: { [name]: text } as Record<NAME, string> }
        return { success: false, error: new TypeError(`\`${name}\` must be a text. Give { "${name}": "…" }.`) }
      },
    },
  )
}

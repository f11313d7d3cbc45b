import type { FlexibleSchema } from 'ai'
import { loadSdk } from '../base/sdk.ts'

/**
 * The input of one of our own tools: one text under this name. Other input is not executed; the model gets an error.
 * `description` is for the model.
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

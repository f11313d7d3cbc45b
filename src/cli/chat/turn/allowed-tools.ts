import type { Client } from '../../../client/client.ts'
import { isAppError } from '../../../core/error.ts'

/** A tool that a run wants to use. */
export interface ToolPlace {
  sessionId: string
  agentId: string
  tool: string
}

/**
 * The tools that a person always allows in a session, as long as this process lives. What is remembered is the definition that was
 * allowed: name, description, input schema and approval. A tool that has another one asks again.
 */
export class AllowedTools {
  readonly #allowed = new Map<string, { place: ToolPlace; definition: string }>()

  /** False where the tool's definition can't be read, so that a change could not be seen. */
  async allow(client: Client, place: ToolPlace): Promise<boolean> {
    const definition = await definitionOf(client, place)
    if (definition === undefined) return false
    this.#allowed.set(keyOf(place), { place, definition })
    return true
  }

  /** `changed`: it was allowed, and is no more. */
  async look(client: Client, place: ToolPlace): Promise<'allowed' | 'changed' | undefined> {
    const known = this.#allowed.get(keyOf(place))
    if (known === undefined) return undefined
    const definition = await definitionOf(client, place).catch(() => undefined)
    if (definition === known.definition) return 'allowed'
    this.#allowed.delete(keyOf(place))
    return 'changed'
  }

  names(sessionId: string): string[] {
    return [...this.#allowed.values()].flatMap(({ place }) => (place.sessionId === sessionId ? [place.tool] : []))
  }

  forget(sessionId: string): void {
    for (const [key, { place }] of this.#allowed) if (place.sessionId === sessionId) this.#allowed.delete(key)
  }
}

function keyOf({ sessionId, agentId, tool }: ToolPlace): string {
  return JSON.stringify([sessionId, agentId, tool])
}

/** Only operators may read the input schema; others see the name and the description. */
async function definitionOf(client: Client, { agentId, tool }: ToolPlace): Promise<string | undefined> {
  const tools = await client.agents.get(agentId, { include: 'config' }).then(
    ({ config }) => config.tools,
    async (error: unknown) => {
      if (!isAppError(error) || error.code !== 'forbidden') throw error
      return (await client.agents.get(agentId)).tools
    },
  )
  const found = tools.find(({ name }) => name === tool)
  return found === undefined ? undefined : JSON.stringify(found)
}

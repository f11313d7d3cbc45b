/**
 * The AI SDK's `tool`: it returns what it is given and is there for its types. Its own copy, because importing the SDK's
 * would load the whole SDK with every config.
 */
export const tool: typeof import('ai').tool = (<T>(definition: T): T => definition) as typeof import('ai').tool

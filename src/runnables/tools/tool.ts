/**
 * The AI SDK's `tool`, which returns its argument and only adds types. A copy, because importing the SDK's would load
 * the whole SDK with every config.
 */
export const tool: typeof import('ai').tool = (<T>(definition: T): T => definition) as typeof import('ai').tool

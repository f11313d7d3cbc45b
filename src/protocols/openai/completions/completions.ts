import type { Route } from '../../../http/router.ts'
import { openaiError } from '../error.ts'
import type { OpenAISettings } from '../openai.ts'
import { createCompletions } from './handler.ts'

/** Chat completions of OpenAI. */
export function completionRoutes(settings: OpenAISettings): Route[] {
  const { prefix, timeoutMs } = settings
  const handler = createCompletions(settings)
  return [
    { method: 'POST', path: `${prefix}/chat/completions`, scope: 'run', timeoutMs, handler, onError: openaiError },
  ]
}

import type { Route } from '../../../http/router.ts'
import { openaiError } from '../error.ts'
import type { OpenAISettings } from '../openai.ts'
import { createConversations } from './conversations.ts'
import { createResponses } from './handler.ts'

/** The routes of responses and conversations. */
export function responseRoutes(settings: OpenAISettings): Route[] {
  const { create, get, cancel, items } = createResponses(settings)
  const conversations = createConversations(settings.services)
  const responses = `${settings.prefix}/responses`
  const same = { onError: openaiError }
  const path = `${settings.prefix}/conversations`
  return [
    { ...same, method: 'POST', path: responses, scope: 'run', timeoutMs: settings.timeoutMs, handler: create },
    { ...same, method: 'GET', path: `${responses}/:response_id`, scope: 'run', handler: get },
    { ...same, method: 'POST', path: `${responses}/:response_id/cancel`, scope: 'run', handler: cancel },
    { ...same, method: 'GET', path: `${responses}/:response_id/input_items`, scope: 'run', handler: items },
    { ...same, method: 'POST', path, scope: 'sessions', handler: conversations.create },
    { ...same, method: 'GET', path: `${path}/:conversation_id`, scope: 'sessions', handler: conversations.get },
    { ...same, method: 'DELETE', path: `${path}/:conversation_id`, scope: 'sessions', handler: conversations.remove },
  ]
}

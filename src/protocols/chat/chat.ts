import type { Route } from '../../http/router.ts'
import { chatError } from './error.ts'
import { type ChatSettings, createChat } from './handler.ts'

/** The routes of useChat. Their errors are plain text, those of the kernel too. */
export function chatRoutes(settings: ChatSettings, timeoutMs?: number): Route[] {
  const { post, stream, stop, history } = createChat(settings)
  const path = `${settings.prefix}/chat/:agent`
  const same = { onError: chatError }
  return [
    { ...same, method: 'POST', path, scope: 'run', timeoutMs, handler: post },
    { ...same, method: 'GET', path: `${path}/:chat_id/stream`, scope: 'run', handler: stream },
    { ...same, method: 'POST', path: `${path}/:chat_id/stop`, scope: 'run', handler: stop },
    { ...same, method: 'GET', path: `${path}/:chat_id`, scope: 'sessions', handler: history },
  ]
}

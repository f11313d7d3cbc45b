import type { AppError } from '../../core/error.ts'
import { errorHeaders, statusOf } from '../../http/error.ts'
import type { Reply } from '../../http/reply.ts'

/** `useChat` shows the body of a refusal as it is, so it is one sentence. */
export function chatError(error: AppError): Reply {
  return {
    status: statusOf[error.code],
    headers: { ...errorHeaders(error), 'X-Error-Code': error.code },
    body: { kind: 'text', text: error.message, mediaType: 'text/plain; charset=utf-8' },
  }
}

import { createHash } from 'node:crypto'
import type { AppError } from '../../core/error.ts'
import { statusOf } from '../../http/error.ts'
import type { Reply } from '../../http/reply.ts'
import { errorPage } from '../../web/error-page.ts'
import { pageStyle } from '../../web/page-style.ts'
import { htmlReply } from './html.ts'

/** With its style in it: it must look right where nothing else is served, such as under a wrong name. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(pageStyle).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The page of a failed navigation, which leads to the studio where it is served. */
export function createErrorPage(studioPath: string | undefined): (error: AppError, requestId: string) => Reply {
  const start = studioPath === undefined ? { 'Start page': '/' } : { Studio: studioPath }
  const ways = { ...start, Documentation: '/docs' }
  return (error, requestId) => {
    const { code, message, details, retryAfterSeconds } = error
    const status = statusOf[code]
    const page = errorPage({ status, code, message, details, requestId, retryAfterSeconds }, ways, pageStyle)
    const reply = htmlReply(page, policy, status)
    return { ...reply, headers: { ...reply.headers, 'Cache-Control': 'no-store' } }
  }
}

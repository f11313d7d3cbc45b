import type { Reply } from '../../http/reply.ts'

/** An HTML page with its Content-Security-Policy. */
export function htmlReply(html: string, policy: string, status = 200): Reply {
  return {
    status,
    headers: { 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache', Vary: 'Accept' },
    body: { kind: 'text', text: html, mediaType: 'text/html; charset=utf-8' },
  }
}

import { AppError, invalid } from '../../core/error.ts'
import type { SessionRecord } from '../../core/session.ts'

const list = /^\s*(?:W\/)?"[^"]*"\s*(?:,\s*(?:W\/)?"[^"]*"\s*)*$/

export function etagOf(record: SessionRecord): string {
  return `"${record.revision}"`
}

/** Whether one of an If-None-Match's tags is this one (weak comparison, RFC 9110 13.1.2). */
export function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || tagsOf(header).some((tag) => tag === etag || tag === `W/${etag}`)
}

/**
 * The revision that If-Match requires (RFC 9110 13.1.1, strong comparison); undefined without the header and for `*`. Of
 * several tags, the one of the present session counts. Throws `precondition_failed` when no tag matches.
 */
export function requiredRevision(header: string | undefined, { revision }: SessionRecord): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  if (!list.test(header)) throw invalid('If-Match must be an ETag in double quotes, a list of ETags, or *.', 'If-Match')
  const revisions = tagsOf(header).flatMap((tag) => (/^"\d{1,15}"$/.test(tag) ? [Number(tag.slice(1, -1))] : []))
  if (revisions.length === 1) return revisions[0]
  if (revisions.includes(revision)) return revision
  throw new AppError(
    'precondition_failed',
    'The session has changed: its ETag does not match If-Match. Read it again, then retry.',
  )
}

function tagsOf(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? []
}

import type { AppErrorOptions, ErrorDetail } from '../../core/error.ts'

type ErrorFacts = AppErrorOptions & { requestId: string | undefined }

/** What an error body, and the headers of its answer, tell besides code and message. */
export function factsOf(error: Record<string, unknown>, headers: Record<string, string>): ErrorFacts {
  return {
    requestId: headers['x-request-id'],
    allow: headers.allow?.split(/, */),
    details: Array.isArray(error.details) ? error.details.filter(isDetail) : undefined,
    runId: typeof error.run_id === 'string' ? error.run_id : undefined,
    sessionId: typeof error.session_id === 'string' ? error.session_id : undefined,
  }
}

function isDetail(value: unknown): value is ErrorDetail {
  const { path, message } = Object(value) as Record<string, unknown>
  return typeof path === 'string' && typeof message === 'string'
}

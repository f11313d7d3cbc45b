import type { Logger } from '../core/logger.ts'
import type { RequestRecord } from '../http/options.ts'

export function logRequest(logger: Logger, level: 'info' | 'debug', record: RequestRecord): void {
  const { method, path, status, code, durationMs, requestId, caller, runId, sessionId } = record
  logger[level](
    {
      method,
      path,
      status,
      ...(code === undefined ? undefined : { code }),
      duration_ms: durationMs,
      request_id: requestId,
      ...(caller === 'anonymous' ? undefined : { caller }),
      ...(runId === undefined ? undefined : { run_id: runId }),
      ...(sessionId === undefined ? undefined : { session_id: sessionId }),
    },
    'request',
  )
}

import { ConfigError } from '../../config/config-error.ts'
import { AppError, type ErrorCode, isAppError } from '../../core/error.ts'
import { asCalled } from '../terminal/called-as.ts'
import { errorColumns, fitExcerpt } from '../terminal/excerpt.ts'
import { terminalText } from '../terminal/text.ts'
import { exit } from './exit-codes.ts'

/** Wrong usage of a command: exit code 2. */
export class UsageError extends AppError {
  constructor(message: string) {
    super('invalid_request', message)
  }
}

const exitCodes: Record<ErrorCode, number> = {
  invalid_request: exit.usage,
  unauthorized: exit.failure,
  forbidden: exit.failure,
  route_not_found: exit.failure,
  session_not_found: exit.failure,
  run_not_found: exit.failure,
  agent_not_found: exit.failure,
  summary_not_found: exit.failure,
  document_not_found: exit.failure,
  chunk_not_found: exit.failure,
  file_not_found: exit.failure,
  collection_not_found: exit.failure,
  owner_not_found: exit.failure,
  fact_not_found: exit.failure,
  schedule_not_found: exit.failure,
  call_not_found: exit.failure,
  method_not_allowed: exit.failure,
  request_timeout: exit.failure,
  conflict: exit.failure,
  run_cancelled: exit.failure,
  precondition_failed: exit.failure,
  payload_too_large: exit.failure,
  unsupported_media_type: exit.failure,
  misdirected_request: exit.failure,
  idempotency_mismatch: exit.failure,
  unreadable_document: exit.failure,
  rate_limited: exit.failure,
  headers_too_large: exit.failure,
  internal: exit.failure,
  run_failed: exit.failure,
  run_interrupted: exit.failure,
  run_limit: exit.failure,
  summary_failed: exit.failure,
  summary_not_configured: exit.failure,
  unavailable: exit.failure,
  timeout: exit.failure,
  storage_full: exit.failure,
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return exit.failure
  return isAppError(error) ? exitCodes[error.code] : exit.failure
}

/** The error as the terminal shows it: message, lines of the config; a stack only for unexpected errors. */
export function describeError(error: unknown): string {
  if (error instanceof ConfigError) return formatConfigError(error)
  if (isAppError(error)) {
    const cause = error.code === 'internal' && error.cause instanceof Error ? `\n${error.cause.stack}` : ''
    return terminalText(`${asCalled(`${error.message}${advice[error.code] ?? ''}`)}${cause}`)
  }
  return terminalText(error instanceof Error ? (error.stack ?? error.message) : String(error))
}

function formatConfigError(error: ConfigError): string {
  const excerpt = error.excerpt === undefined ? '' : `\n\n${fitExcerpt(error.excerpt, errorColumns())}\n`
  return terminalText(`${error.message}${excerpt}`)
}

/** Replaces the usual advice for a missing key. */
export function adviseUnauthorized(text: string): void {
  advice.unauthorized = `\n${text}`
}

const advice: Partial<Record<ErrorCode, string>> = {
  agent_not_found: '\n`agentserve agents` lists the agents.',
  session_not_found: '\n`agentserve sessions` lists the sessions.',
  run_not_found: '\n`agentserve runs` lists the runs.',
  document_not_found: '\n`agentserve knowledge list` lists the documents.',
  unauthorized: '\nPass a key or token with --key or AGENTSERVE_KEY.',
  misdirected_request: '\nAllow the name on the server with --allow-host or AGENTSERVE_ALLOW_HOSTS.',
}

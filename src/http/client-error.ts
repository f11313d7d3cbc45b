import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, invalid } from '../core/error.ts'
import { createId } from '../core/id.ts'
import { errorBody, statusOf } from './error.ts'

const lingerMs = 1_000

/** Turns an error of node's parser or timeouts into an AppError. */
export function parseError(error: NodeJS.ErrnoException): AppError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The headers of the request are too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request did not arrive in time.')
    default:
      return invalid('The request is not valid HTTP.')
  }
}

/** Answers on a socket without a request and closes it. `received`: the unparsed bytes, if node kept them. */
export function answerRaw(socket: Duplex, error: AppError, now: number, received: Uint8Array | undefined): void {
  const requestId = createId('req', now)
  const status = statusOf[error.code]
  const body = JSON.stringify(errorBody(error, requestId))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'X-Content-Type-Options: nosniff',
    'Referrer-Policy: no-referrer',
    'Cross-Origin-Resource-Policy: same-origin',
    'Connection: close',
  ]
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
  const isHead = received !== undefined && Buffer.from(received.subarray(0, 5)).toString('latin1') === 'HEAD '
  socket.end(`${head.join('\r\n')}\r\n\r\n${isHead ? '' : body}`)
}

import type { HttpRequest } from '../../../http/request.ts'
import { A2AError } from './error.ts'

export type Version = '1.0' | '0.3'

/** The version that the request names in its header or query; undefined: none. A patch number is ignored. */
export function namedVersion(request: HttpRequest): Version | undefined {
  const header = request.headers['a2a-version']
  const given = (header === undefined || header === '' ? request.query.get('A2A-Version') : header) ?? ''
  if (given === '') return undefined
  const [, version] = /^(1\.0|0\.3)(?:\.\d{1,9})?$/.exec(String(given).trim()) ?? []
  if (version === '1.0' || version === '0.3') return version
  throw new A2AError('VERSION_NOT_SUPPORTED', 'This version of A2A is not supported. Supported: 1.0 and 0.3.')
}

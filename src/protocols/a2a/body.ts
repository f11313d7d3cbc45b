import { AppError, isAppError } from '../../core/error.ts'
import type { BodyReader } from '../../http/request.ts'
import { RpcError, rpcCodes } from './error.ts'

/** The body's JSON. Text that is no JSON is a parse error; a media type that is not JSON is refused. */
export async function readBody(body: BodyReader): Promise<unknown> {
  const { mediaType } = body
  if (mediaType !== undefined && body.present && mediaType !== 'application/json' && !mediaType.endsWith('+json')) {
    throw new AppError('unsupported_media_type', `A2A requests are application/json, not '${mediaType}'.`)
  }
  try {
    return await body.json()
  } catch (error) {
    if (isMalformedJson(error)) {
      throw new RpcError(rpcCodes.parseError, 'parse error: the body is not valid JSON')
    }
    throw error
  }
}

function isMalformedJson(error: unknown): boolean {
  return isAppError(error) && error.cause instanceof SyntaxError
}

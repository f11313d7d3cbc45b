import { isAppError } from '../../core/error.ts'
import type { HttpRequest } from '../../http/request.ts'

/** A parameter of the route's path. */
export function pathId(request: HttpRequest, name = 'id'): string {
  return request.params[name] ?? ''
}

/**
 * What `read` makes of the request. When it refuses, `find` is asked first: an unknown id in the path is 404 whatever else
 * is wrong, and a good request pays nothing for that.
 */
export async function readFor<T>(find: () => unknown, read: () => Promise<T> | T): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (isAppError(error) && (error.code === 'invalid_request' || error.code === 'unsupported_media_type')) await find()
    throw error
  }
}

import type { Access } from '../core/access/scope.ts'
import type { AppError } from '../core/error.ts'
import type { Reply } from './reply.ts'
import type { HttpRequest } from './request.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RouteAccess {
  /** Who may call it, where there are keys: `'open'` for health, `/` and the docs page. Each route decides. */
  scope: Access
  /** Bytes that the body may have; default: the server's `maxRequestSize`. */
  maxBodyBytes?: number | undefined
  /** The answer may take as long as the work does, whatever `requestTimeout` says. */
  takesLong?: boolean
}

/** One route. `path` has its parameters as `:name`; `HEAD`, `OPTIONS` and the trailing slash are the kernel's. */
export interface Route extends RouteAccess {
  method: Method
  path: string
  handler: (request: HttpRequest) => Promise<Reply> | Reply
  /** How this route words errors that carry their status (JSON-RPC's body, say); default: the one error body. */
  onError?: ((error: AppError, request: HttpRequest) => Reply) | undefined
}

/** Where routes are mounted: our kernel, or somebody else's program through an adapter. */
export interface Router {
  route(route: Route): void
}

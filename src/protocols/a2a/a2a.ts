import type { Runnable } from '../../core/runnable.ts'
import type { Route, Router } from '../../http/router.ts'
import type { Registry } from '../../service/services.ts'
import { a2aMethods } from '../../wire/protocols/a2a.ts'
import { errorReply } from './error.ts'
import { createHandler, type ServicesOf } from './handler.ts'
import { a2aPath, normalisePrefix } from './path.ts'

export interface A2AOptions {
  /** Any path; default `/api/v1/a2a`. */
  prefix: string
  /** The server's registry, or a separate one. */
  registry: Registry
  /** Called for each request, so it may open the services on the first one. They must use the same registry. */
  services: ServicesOf
  /** How much content of files one answer, or one event of a stream, may have. */
  fileBytes: number
}

/** The A2A interface, with a server or on its own. Safe for concurrent requests. */
export interface A2A {
  readonly prefix: string
  /** Throws for an empty or taken id, and for a value that is not runnable. */
  registerEntity(id: string, entity: Runnable): void
  getEntity(id: string): { entity: Runnable | undefined; exists: boolean }
  listEntities(): string[]
  /** Mounts `{prefix}/sendMessage` and `{prefix}/streamMessage`. */
  setupRoutes(router: Router): void
}

export function createA2A(options: A2AOptions): A2A {
  const { registry, services, fileBytes } = options
  const prefix = normalisePrefix(options.prefix)
  return {
    prefix,
    registerEntity: (id, entity) => registry.register(id, entity),
    getEntity(id) {
      const entity = registry.find(id)
      return { entity, exists: entity !== undefined }
    },
    listEntities: () => registry.ids(),
    setupRoutes(router) {
      for (const route of a2aRoutes(services, prefix, fileBytes)) router.route(route)
    },
  }
}

/** The two routes of the dialect. Errors of the kernel about them (401, 413, …) are JSON-RPC too. */
export function a2aRoutes(servicesOf: ServicesOf, prefix: string, fileBytes: number, timeoutMs?: number): Route[] {
  return a2aMethods.map((method) => ({
    method: 'POST',
    path: a2aPath(prefix, method),
    scope: 'run',
    timeoutMs,
    handler: createHandler(method, servicesOf, fileBytes),
    onError: (error) => errorReply(error, null),
  }))
}

import { AppError } from '../../core/error.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Method, Route } from '../../http/router.ts'
import type { Services } from '../../service/services.ts'
import type { Leaving } from '../leaving.ts'
import { openaiError } from './error.ts'
import { createModels } from './models.ts'

export type OpenAIServices = Pick<Services, 'registry' | 'runs' | 'sessions' | 'bookmarks' | 'logger'>
export type OpenAIServicesOf = (request: HttpRequest) => OpenAIServices

export interface OpenAISettings {
  /** Of these routes, not of the server. */
  prefix: string
  services: OpenAIServicesOf
  /** When the server started. */
  startedAtMs: number
  sessionFromUser: boolean
  showTools: boolean
  /** Of the server: it sees all readers of a run. */
  leaving: Leaving
  /** How many files a run may bring. */
  maxFiles: number
  /** How much content of a file an answer may have. */
  fileBytes: number
  /** How long a request waits for the end of its run. */
  timeoutMs?: number | undefined
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The models, and the refusal of what OpenAI has and we don't, in its words. */
export function openaiRoutes({ prefix, services, startedAtMs }: OpenAISettings): Route[] {
  const models = createModels(services, Math.floor(startedAtMs / 1000))
  const unknown = (request: HttpRequest): never => {
    const message = `There is no ${request.method} ${request.path} here. The paths are in the OpenAPI document: GET /openapi.json.`
    throw new AppError('route_not_found', message)
  }
  const same = { onError: openaiError }
  return [
    { ...same, method: 'GET', path: `${prefix}/models`, scope: 'any', handler: models.list },
    { ...same, method: 'GET', path: `${prefix}/models/**:model`, scope: 'any', handler: models.get },
    // At the root there are others.
    ...(prefix === ''
      ? []
      : methods.map((method): Route => ({ ...same, method, path: `${prefix}/**`, scope: 'any', handler: unknown }))),
  ]
}

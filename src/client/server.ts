import type { JsonObject } from '../core/json.ts'
import type { Health, Readiness } from '../wire/health.ts'
import type { Me } from '../wire/me.ts'
import type { Call, CallOptions, Connection } from './transport/connection.ts'
import { errorOf, type Refusal, refusalOf } from './transport/error.ts'

/** The server itself. */
export interface ServerClient {
  /** Whether the process answers. Needs no key. */
  health(options?: CallOptions): Promise<Health>
  /** Whether the server accepts work, and if not, why. Needs no key. */
  readiness(options?: CallOptions): Promise<Readiness>
  /** The caller's key, what it may do, and the server. */
  me(options?: CallOptions): Promise<Me>
  /** Metrics in the Prometheus text format. */
  metrics(options?: CallOptions): Promise<string>
  /** The main paths of the server. */
  home(options?: CallOptions): Promise<JsonObject>
  /** The OpenAPI document of the routes that are served now. */
  openApi(options?: CallOptions): Promise<JsonObject>
  openApiYaml(options?: CallOptions): Promise<string>
  /** The documentation page, as HTML. */
  docs(options?: CallOptions): Promise<string>
  /** A file of the documentation page, by its name. */
  docsAsset(file: string, options?: CallOptions): Promise<string>
}

export function createServerClient(connection: Connection, prefix: string, healthPath: string): ServerClient {
  const get = (path: string, options: CallOptions | undefined, more: Pick<Call, 'refusal'> = {}) =>
    ({ ...options, ...more, method: 'GET', path, repeat: 'safe' }) as const
  const text = async (path: string, options: CallOptions | undefined) =>
    (await connection.whole({ ...get(path, options), headers: { accept: '*/*' } })).text()

  return {
    health: (options) => connection.json(get(healthPath, options)),
    readiness: (options) =>
      connection.json(get(`${healthPath === '/' ? '' : healthPath}/ready`, options, { refusal: ofUnready })),
    me: (options) => readMe(connection, prefix, options),
    metrics: (options) => text('/metrics', options),
    home: (options) => connection.json(get('/', options)),
    openApi: (options) => connection.json(get('/openapi.json', options)),
    openApiYaml: (options) => text('/openapi.yaml', options),
    docs: (options) => text('/docs', options),
    docsAsset: (file, options) => text(`/docs/assets/${encodeURIComponent(file)}`, options),
  }
}

export function readMe(connection: Connection, prefix: string, options?: CallOptions): Promise<Me> {
  return connection.get(`${prefix}/me`, options)
}

/** A server that is not ready says why with the status 503. */
const ofUnready: Refusal = (response, text, name) =>
  response.status === 503 && errorOf(text()) === undefined ? undefined : refusalOf(response, text, name)

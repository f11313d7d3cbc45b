import { invalid } from '../../core/error.ts'

export interface CorsRules {
  /** Compared exactly; `*` only alone. Empty: no CORS. */
  allowOrigins: readonly string[]
  /** Undefined: the methods of the requested path. */
  allowMethods?: readonly string[] | undefined
  allowHeaders?: readonly string[] | undefined
}

export interface Cors {
  isAllowed(origin: string): boolean
  /** Listed by name, not only allowed by `*`. */
  isListed(origin: string): boolean
  /** Alternating names and values for an answer to this origin; never with credentials. */
  headersFor(origin: string | undefined): readonly string[]
  /** `asked`: the header names that the browser asks for. */
  preflightHeaders(origin: string, pathMethods: readonly string[], asked?: string): Record<string, string>
}

const standardHeaders = [
  'Content-Type',
  'Authorization',
  'X-API-Key',
  'Accept',
  'Idempotency-Key',
  'If-Match',
  'Last-Event-ID',
  'X-Request-Id',
  'X-Session-Id',
  'X-On-Disconnect',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Session-Id',
  'A2A-Version',
  'A2A-Extensions',
  'Traceparent',
  'Tracestate',
]
const exposed =
  'Location, ETag, Retry-After, WWW-Authenticate, X-Request-Id, X-Run-Id, X-Session-Id, X-Agentserve-Ignored, X-Error-Code, x-should-retry'
const none: readonly string[] = []
const maxAgeSeconds = '600'

const mostTelling = 32

/** The headers by which the package `openai` tells of itself: it may have others tomorrow, and the server reads one of them. */
function telling(asked = ''): string[] {
  const names = asked.split(',').map((name) => name.trim())
  return names.filter((name) => /^x-stainless-[a-z-]{1,32}$/i.test(name)).slice(0, mostTelling)
}

export function createCors({ allowOrigins, allowMethods, allowHeaders }: CorsRules): Cors {
  const any = allowOrigins.includes('*')
  if (any && allowOrigins.length > 1)
    throw invalid("allowOrigins: '*' must be the only entry. Remove the other origins.")
  const varied: readonly string[] = allowOrigins.length === 0 || any ? none : ['Vary', 'Origin']
  const byOrigin = new Map(
    allowOrigins.map((origin) => [
      origin,
      ['Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed, ...varied],
    ]),
  )
  const isListed = (origin: string) => !any && byOrigin.has(origin)
  const isAllowed = (origin: string) => any || byOrigin.has(origin)
  return {
    isAllowed,
    isListed,
    headersFor(origin) {
      if (origin === undefined) return varied
      return byOrigin.get(any ? '*' : origin) ?? varied
    },
    preflightHeaders(origin, pathMethods, asked) {
      if (!isAllowed(origin)) return {}
      return {
        'Access-Control-Allow-Methods': (allowMethods ?? pathMethods).join(', '),
        'Access-Control-Allow-Headers': (allowHeaders ?? [...standardHeaders, ...telling(asked)]).join(', '),
        'Access-Control-Max-Age': maxAgeSeconds,
      }
    },
  }
}

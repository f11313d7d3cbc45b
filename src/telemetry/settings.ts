import type { Attributes, Capture } from './draft.ts'
import type { SpanExporter } from './readable-span.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** `server.telemetry` as it was checked. */
export interface GivenTelemetry {
  endpoint?: string | undefined
  headers?: Record<string, string> | undefined
  serviceName?: string | undefined
  content?: Capture | undefined
  exporter?: SpanExporter | undefined
}

export interface TelemetrySettings {
  /** Where the exporter is told to send to; undefined: it reads the standard variables itself. */
  url: string | undefined
  headers: Record<string, string>
  exporter: SpanExporter | undefined
  /** The variables say how long a request may take. */
  hasTimeout: boolean
  /** What turned it on, for messages. */
  source: string
  resource: Attributes
  capture: Capture
  /** Characters of a content, and so of an attribute. */
  maxCharacters: number
}

const usualCharacters = 16_384
const fewestCharacters = 64

/**
 * What telemetry does, by the config and the standard variables; the config wins, except over `OTEL_SDK_DISABLED`. Undefined
 * without an endpoint or an exporter: there is no telemetry then.
 */
export function telemetrySettings(
  given: GivenTelemetry | false,
  environment: Environment,
): TelemetrySettings | undefined {
  const variable = (name: string) => environment[name]?.trim() || undefined
  if (given === false || variable('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined
  const { endpoint, exporter, headers = {}, serviceName, content } = given
  const named = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].find(
    (name) => variable(name) !== undefined,
  )
  const isOff = !(variable('OTEL_TRACES_EXPORTER') ?? 'otlp').split(',').some((one) => one.trim() === 'otlp')
  const isAsked = exporter !== undefined || endpoint !== undefined
  if (!isAsked && (named === undefined || isOff)) return undefined
  const attributes = resourceAttributes(variable('OTEL_RESOURCE_ATTRIBUTES'))
  const most = Number(
    variable('OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT') ?? variable('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT'),
  )
  return {
    url: endpoint === undefined ? undefined : `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers,
    exporter,
    hasTimeout: ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'].some((name) => variable(name)),
    source: isAsked ? 'server.telemetry' : (named ?? ''),
    resource: {
      ...attributes,
      'service.name': serviceName ?? variable('OTEL_SERVICE_NAME') ?? attributes['service.name'] ?? 'agentserve',
    },
    capture: content ?? captureOf(variable('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT')),
    maxCharacters: Number.isInteger(most) && most > 0 ? Math.max(most, fewestCharacters) : usualCharacters,
  }
}

/** The variable never tells whole prompts, which the API shows only with the scope `prompts`. */
function captureOf(value: string | undefined): Capture {
  return /^(?:true|1|span_only|span_and_event)$/i.test(value ?? '') ? 'messages' : 'none'
}

/** `key=value` by commas, percent-encoded. */
function resourceAttributes(text = ''): Attributes {
  const attributes: Attributes = {}
  for (const pair of text.split(',')) {
    const [, name, value = ''] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? []
    if (name === undefined) continue
    try {
      attributes[decodeURIComponent(name)] = decodeURIComponent(value.trim())
    } catch {
      // The specification has a text that can't be decoded left out.
    }
  }
  return attributes
}

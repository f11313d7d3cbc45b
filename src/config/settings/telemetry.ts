import { z } from 'zod'
import { address, choose, is, isObject, oneOf, settings, text, textByName } from '../../schema/field.ts'
import type { SpanExporter } from '../../telemetry/readable-span.ts'

const telemetryFields = settings({
  /** Where an OTLP collector listens, without `/v1/traces`. Default: the variables `OTEL_EXPORTER_OTLP_…`. */
  endpoint: address().optional(),
  /** For the collector, beside those of the variables. */
  headers: textByName().optional(),
  /** Default: `OTEL_SERVICE_NAME`, else `agentserve`. */
  serviceName: text().optional(),
  /** What spans say of contents. Default: nothing, unless the variable of the conventions says so. */
  content: oneOf(['none', 'messages', 'prompts']).optional(),
  /** Sends the spans in place of OTLP over HTTP; closed with the server. */
  exporter: is<SpanExporter>(
    "an exporter of OpenTelemetry's packages, with the methods export and shutdown",
    (value) => isObject(value) && typeof value.export === 'function' && typeof value.shutdown === 'function',
  ).optional(),
})

type Telemetry = z.ZodType<false | z.output<typeof telemetryFields>, false | z.input<typeof telemetryFields>>

/** Spans of runs, or `false`: none, whatever the environment says. */
export const telemetrySettings = choose((value): Telemetry => (value === false ? z.literal(false) : telemetryFields))

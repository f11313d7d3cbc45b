import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import { systemTimers } from '../runtime/timers.ts'
import { hasExporter, installExporter } from '../telemetry/package.ts'
import { samplerOf } from '../telemetry/sampling.ts'
import { telemetrySettings } from '../telemetry/settings.ts'
import { createTelemetry, type Telemetry, type TelemetryOptions } from '../telemetry/telemetry.ts'

/** Undefined without an endpoint or an exporter. Reads the standard variables of the environment, those of `.env` included. */
export function composeTelemetry(
  { server, root }: Pick<ResolvedConfig, 'server' | 'root'>,
  { logger, ...records }: Pick<TelemetryOptions, 'store' | 'runs'> & { logger: Logger },
): Telemetry | undefined {
  const environment = process.env
  const settings = telemetrySettings(server.telemetry, environment)
  if (settings === undefined) return undefined
  let sampler = samplerOf(environment)
  if (sampler === undefined) {
    logger.warn({ sampler: environment.OTEL_TRACES_SAMPLER }, 'OTEL_TRACES_SAMPLER is unknown; every trace is exported')
    sampler = (_, parent) => parent?.isSampled ?? true
  }
  return createTelemetry({ ...records, settings, sampler, root, timers: systemTimers, logger })
}

/** What turned telemetry on, and the command that adds its package when that is missing. Undefined: it is off. */
export function telemetryState({
  server,
  root,
}: Pick<ResolvedConfig, 'server' | 'root'>): { source: string; install: string | undefined } | undefined {
  const settings = telemetrySettings(server.telemetry, process.env)
  if (settings === undefined) return undefined
  const { source, exporter } = settings
  return { source, install: exporter !== undefined || hasExporter(root) ? undefined : installExporter }
}

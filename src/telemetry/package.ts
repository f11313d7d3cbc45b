import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SpanExporter } from './readable-span.ts'
import type { TelemetrySettings } from './settings.ts'

const exporterPackage = '@opentelemetry/exporter-trace-otlp-http'
/** The command that adds it. */
export const installExporter = `npm install ${exporterPackage}`

interface Loaded {
  OTLPTraceExporter: new (options: {
    url?: string
    headers: Record<string, string>
    timeoutMillis?: number
  }) => SpanExporter
}

/** Less than the package's 10 s: a request that hangs keeps a process from ending. The variables may say something else. */
const usualTimeoutMs = 5_000

/** The exporter of the project, or of agentserve's own folder; undefined when neither has the package. */
function findExporter(root: string): string | undefined {
  for (const from of [join(root, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve(exporterPackage)
    } catch {
      // The next place may have it.
    }
  }
  return undefined
}

export function hasExporter(root: string): boolean {
  return findExporter(root) !== undefined
}

/** Loads the package, which reads the standard variables. Throws with what to do when it is missing. */
export async function openExporter(
  { url, headers, source, hasTimeout }: Pick<TelemetrySettings, 'url' | 'headers' | 'source' | 'hasTimeout'>,
  root: string,
): Promise<SpanExporter> {
  const file = findExporter(root)
  if (file === undefined)
    throw new Error(`${source} is set, and the package '${exporterPackage}' is missing. Run: ${installExporter}`)
  const { OTLPTraceExporter } = (await import(pathToFileURL(file).href)) as Loaded
  return new OTLPTraceExporter({
    ...(url !== undefined && { url }),
    headers,
    ...(!hasTimeout && { timeoutMillis: usualTimeoutMs }),
  })
}

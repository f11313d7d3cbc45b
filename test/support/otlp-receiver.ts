import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Value {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values: Value[] }
}
interface KeyValue {
  key: string
  value: Value
}
export interface ReceivedSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Record<string, unknown>
  status: { code?: number; message?: string }
  links: { traceId: string; spanId: string }[]
  flags: number
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string
  readonly spans: ReceivedSpan[]
  readonly resources: Record<string, unknown>[]
  readonly requests: { path: string; headers: IncomingHttpHeaders; body: string }[]
  /** What it answers from now on; `hang`: nothing. */
  answer: number | 'hang'
  close(): Promise<void>
}

/** A collector: takes OTLP over HTTP in JSON, as `POST /v1/traces`. */
export async function openReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const resources: Record<string, unknown>[] = []
  const requests: OtlpReceiver['requests'] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString()
      requests.push({ path: `${request.method} ${request.url}`, headers: request.headers, body })
      if (receiver.answer === 'hang') return
      if (receiver.answer === 200) take(JSON.parse(body))
      response.writeHead(receiver.answer, { 'content-type': 'application/json' }).end('{}')
    })
  })

  // biome-ignore lint/suspicious/noExplicitAny: the JSON of another program
  function take(message: any): void {
    for (const { resource, scopeSpans } of message.resourceSpans) {
      resources.push(attributesOf(resource.attributes))
      for (const { scope, spans: given } of scopeSpans) {
        if (scope.name !== 'agentserve') throw new Error(`a scope '${scope.name}'`)
        for (const span of given) spans.push({ ...span, attributes: attributesOf(span.attributes) })
      }
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    requests,
    answer: 200,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

function attributesOf(list: KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, plainValue(value)]))
}

function plainValue(value: Value): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plainValue)
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue)
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { agent } from '../../src/runnables/agent/agent.ts'
import { findProgram } from '../support/deploy/files.ts'
import { describePostgres } from '../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../support/postgres/test-postgres.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const folder = join(import.meta.dirname, '../../docs/deploy')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
interface Rule {
  alert: string
  expr: string
  labels: Record<string, string>
  annotations: Record<string, string>
}
const rules: Rule[] = parse(read('prometheus-rules.yaml')).groups.flatMap((group: { rules: Rule[] }) => group.rules)
interface Panel {
  id: number
  title: string
  type: string
  gridPos: { x: number; y: number; w: number; h: number }
  datasource?: unknown
  targets?: { refId: string; expr: string; legendFormat: string }[]
}
const dashboard: { panels: Panel[]; templating: { list: { name: string; query: string | { query: string } }[] } } =
  JSON.parse(read('grafana-dashboard.json'))
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
]

/** Words of the language, and what Prometheus adds itself. */
const functions = /\b(?:sum|rate|increase|changes|count|max|topk|histogram_quantile|vector|label_values|by|or)\b/g
const added = new Set(['job', 'instance', 'le'])

/** The metrics of an expression with the labels that are asked of each. */
function askedOf(expression: string): { metric: string; labels: string[] }[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/, */))
  const plain = expression.replaceAll(/\bby \([^)]*\)/g, '').replaceAll(/\[[^\]]*\]/g, '')
  const found = [...plain.matchAll(/([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})?/g)]
  return found
    .filter(([whole, name = '']) => !/^(?:\$|__)/.test(name) && name.replaceAll(functions, '') !== '' && whole !== 'x')
    .map(([, metric = '', selector = '']) => ({
      metric,
      labels: [...[...selector.matchAll(/(\w+)(?:=~|!~|!=|=)/g)].map(([, label = '']) => label), ...grouped],
    }))
}

describePostgres('what is monitored', () => {
  let place: Place
  let server: RunningTestServer
  /** The labels of each metric that is there. */
  const metrics = new Map<string, Set<string>>()
  beforeAll(async () => {
    place = await (await testPostgres()).newDatabase()
    const failing = agent({
      // biome-ignore lint/correctness/useYield: it fails before it says anything.
      async *run() {
        throw new Error('no')
      },
    })
    const cached = agent({
      cache: { ttl: '1h' },
      sideEffects: false,
      async *run() {
        yield 'same'
      },
    })
    const sessionStorage = { type: 'postgres' as const, url: place.url, tls: false }
    server = await startServer(
      { sessionStorage, telemetry: { exporter: new InMemorySpanExporter() } },
      { failing, cached },
    )
    for (const name of ['echo', 'failing', 'cached', 'cached'])
      await server.call('POST', `/api/v1/agents/${name}/run`, { input: 'x' })
    const scrape = async () => (await server.call('GET', '/metrics')).text
    // Known from the first beat on.
    await vi.waitFor(async () => expect(await scrape()).toContain('agentserve_pg_oldest_xmin_seconds'), 8_000)
    for (const line of (await scrape()).split('\n')) {
      const [, type, name = '', labels = ''] = /^(?:# (TYPE) )?([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /.exec(line) ?? []
      if (name === '') continue
      const known = metrics.get(name) ?? metrics.set(name, new Set()).get(name)
      if (type === undefined) for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known?.add(label)
    }
  })
  afterAll(async () => {
    await server?.close()
    await place?.drop()
  })

  test('is there: each metric and each label of the alerts and the dashboard', () => {
    expect(expressions.length).toBeGreaterThan(35)
    const asked = expressions.flatMap(askedOf).filter(({ metric }) => metric !== 'up')
    expect(asked.length).toBeGreaterThan(expressions.length)
    expect([...new Set(asked.map(({ metric }) => metric))].filter((name) => !metrics.has(name))).toEqual([])
    const strange = asked.flatMap(({ metric, labels }) =>
      labels
        .filter((label) => !added.has(label) && !metrics.get(metric)?.has(label))
        .map((label) => `${metric} ${label}`),
    )
    // Without tokens and hits there is a metric, but no line of it.
    const silent = new Set([...metrics].filter(([, labels]) => labels.size === 0).map(([name]) => name))
    expect(strange.filter((one) => !silent.has(one.split(' ')[0] ?? ''))).toEqual([])
  })

  test('is all that there is', () => {
    const asked = new Set(expressions.flatMap(askedOf).map(({ metric }) => metric))
    const own = [...metrics.keys()].filter((name) => !/_(?:bucket|sum|count)$/.test(name))
    const unwatched = own.filter((name) => !asked.has(name) && !asked.has(`${name}_bucket`))
    expect(unwatched).toEqual([])
  })

  test('has alerts that say what is wrong and what to do', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, labels, annotations } of rules) {
      expect(labels.severity, alert).toMatch(/^(?:warning|critical)$/)
      expect(annotations.summary, alert).toMatch(/\.$/)
      expect(annotations.action, alert).toMatch(/\.$/)
    }
  })

  test('has panels side by side, that ask the chosen data source', () => {
    const names = dashboard.templating.list.map(({ name }) => name)
    const panels = dashboard.panels.filter(({ type }) => type !== 'row')
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    for (const { title, gridPos, targets = [], datasource } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      expect(datasource, title).toEqual({ type: 'prometheus', uid: `\${${names[0]}}` })
      expect(targets.length, title).toBeGreaterThan(0)
      for (const [, name = ''] of targets
        .map(({ expr }) => expr)
        .join()
        .matchAll(/\$(\w+)/g))
        expect([...names, '__rate_interval'], title).toContain(name)
    }
    for (const [place, { gridPos: one }] of dashboard.panels.entries())
      for (const { gridPos: other } of dashboard.panels.slice(place + 1)) {
        const apart = one.x + one.w <= other.x || other.x + other.w <= one.x
        expect(apart || one.y + one.h <= other.y || other.y + other.h <= one.y).toBe(true)
      }
  })

  const promtool = findProgram('promtool')
  test.skipIf(promtool === undefined)('is understood by Prometheus', async () => {
    const { execFileSync } = await import('node:child_process')
    const check = (kind: string[], file: string) =>
      execFileSync(String(promtool), ['check', ...kind, join(folder, file)], { encoding: 'utf8' })
    expect(check(['rules'], 'prometheus-rules.yaml')).toContain(`SUCCESS: ${rules.length} rules found`)
    expect(check(['config', '--syntax-only'], 'prometheus.yaml')).toContain('SUCCESS')
  })
})

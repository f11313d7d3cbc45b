import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { resolveConfig } from '../../src/config/resolve.ts'
import { configParts } from '../../src/server.ts'
import { root } from '../support/program.ts'

/* Docker is not needed: test/e2e/postgres/compose.test.ts runs the commands that are in the file. */

interface Service {
  image: string
  command?: string[]
  environment?: Record<string, string>
  secrets?: string[]
  configs?: { source: string }[]
  depends_on?: string[] | Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  stop_grace_period?: string
}

const text = readFileSync(join(root, 'compose.yaml'), 'utf8')
const file = parse(text, { merge: true }) as {
  services: Record<string, Service>
  secrets: Record<string, { file: string }>
  configs: Record<string, { content: string }>
}
const servers = Object.keys(file.services).filter((name) => name.startsWith('server-'))

test('compose.yaml has three equal servers, a proxy in front of all of them, and a Postgres', () => {
  expect(Object.keys(file.services)).toEqual([...servers, 'proxy', 'postgres'])
  expect(servers).toHaveLength(3)
  for (const name of servers) expect(file.services[name]).toEqual(file.services['server-1'])
  const proxied = [...(file.configs.proxy?.content ?? '').matchAll(/([\w-]+):8080/g)].map(([, name]) => name)
  expect(proxied).toEqual(servers)
  expect(Number(/postgres:(\d+)$/.exec(file.services.postgres?.image ?? '')?.[1])).toBeGreaterThanOrEqual(15)
})

test('what its services name is in the file, and secrets are in files only', () => {
  for (const { secrets = [], configs = [], depends_on: needed = {} } of Object.values(file.services)) {
    expect(Object.keys(file.secrets)).toEqual(expect.arrayContaining(secrets))
    expect(Object.keys(file.configs)).toEqual(expect.arrayContaining(configs.map(({ source }) => source)))
    const names = Array.isArray(needed) ? needed : Object.keys(needed)
    expect(Object.keys(file.services)).toEqual(expect.arrayContaining(names))
  }
  for (const { file: path } of Object.values(file.secrets)) {
    expect(path).toMatch(/^secrets\//)
    expect(text).toContain(`> ${path}`)
  }
  expect(text).toMatch(/> \.dockerignore/)
})

test('its health checks ask for readiness, and there is time to drain', () => {
  const { healthPath } = resolveConfig({ user: {}, root, purpose: 'program', parts: configParts }).server
  expect(file.configs.proxy?.content).toContain(`health_uri ${healthPath}/ready\n`)
  expect(file.services['server-1']?.healthcheck?.test.join(' ')).toContain(`:8080${healthPath}/ready'`)
  expect(Number.parseInt(file.services['server-1']?.stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(25)
})

test('every variable that it sets is one that the guide explains', () => {
  const guide = readFileSync(join(root, 'docs/configuration.md'), 'utf8')
  const names = new Set(text.match(/AGENTSERVE_\w+/g))
  expect(names.size).toBeGreaterThan(2)
  expect([...names].filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
})

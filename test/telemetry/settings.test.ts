import { describe, expect, it } from 'vitest'
import { samplerOf } from '../../src/telemetry/sampling.ts'
import { telemetrySettings } from '../../src/telemetry/settings.ts'

const endpoint = 'http://127.0.0.1:4318'
const there = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }
const exporter = { export: () => {}, shutdown: async () => {} }

describe('telemetry', () => {
  it.each([
    ['nothing is set', {}, {}],
    ['the variable is empty', {}, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
    ['the SDK is disabled', { endpoint }, { ...there, OTEL_SDK_DISABLED: 'True' }],
    ['the config says false', false, there],
    ['the variables name another exporter', {}, { ...there, OTEL_TRACES_EXPORTER: 'none' }],
    [
      'only another service is named',
      {},
      { OTEL_SERVICE_NAME: 'agents', OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint },
    ],
  ] as const)('is off when %s', (_, given, environment) => {
    expect(telemetrySettings(given, environment)).toBeUndefined()
  })

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', {}, there, undefined],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', {}, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint }, undefined],
    ['server.telemetry', { endpoint: `${endpoint}/` }, there, `${endpoint}/v1/traces`],
    ['server.telemetry', { endpoint }, { OTEL_TRACES_EXPORTER: 'none' }, `${endpoint}/v1/traces`],
    ['server.telemetry', { exporter }, {}, undefined],
  ] as const)('is on by %s', (source, given, environment, url) => {
    expect(telemetrySettings(given, environment)).toMatchObject({ source, url, capture: 'none' })
  })

  it('is named by the config, else by the variables, else agentserve', () => {
    const attributes = 'service.name=from%20attributes, deployment.environment.name=test,broken=%zz,=nothing,alone'
    const named = (serviceName: string | undefined, environment: Record<string, string>) =>
      telemetrySettings({ serviceName }, { ...there, ...environment })?.resource
    expect(named(undefined, {})).toEqual({ 'service.name': 'agentserve' })
    expect(named(undefined, { OTEL_RESOURCE_ATTRIBUTES: attributes })).toEqual({
      'service.name': 'from attributes',
      'deployment.environment.name': 'test',
    })
    const both = { OTEL_SERVICE_NAME: 'variable', OTEL_RESOURCE_ATTRIBUTES: attributes }
    expect(named(undefined, both)).toMatchObject({ 'service.name': 'variable' })
    expect(named('config', both)).toMatchObject({ 'service.name': 'config' })
  })

  it.each([
    ['true', undefined, 'messages'],
    ['SPAN_ONLY', undefined, 'messages'],
    ['SPAN_AND_EVENT', undefined, 'messages'],
    ['EVENT_ONLY', undefined, 'none'],
    ['NO_CONTENT', undefined, 'none'],
    ['false', undefined, 'none'],
    ['true', 'none', 'none'],
    ['false', 'prompts', 'prompts'],
  ] as const)('with the variable %s and the config %s captures %s', (variable, content, capture) => {
    const environment = { ...there, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: variable }
    expect(telemetrySettings({ content }, environment)?.capture).toBe(capture)
  })

  it('cuts contents where the variables say', () => {
    const most = (environment: Record<string, string>) => telemetrySettings({ endpoint }, environment)?.maxCharacters
    expect(most({})).toBe(16_384)
    expect(most({ OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '1000' })).toBe(1_000)
    expect(most({ OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '1000', OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '500' })).toBe(500)
    expect(most({ OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: 'many' })).toBe(16_384)
  })
})

describe('a sampler', () => {
  const ids = Array.from(
    { length: 2_000 },
    (_, place) => `${'0'.repeat(20)}${(place * Math.floor(2 ** 48 / 2_000)).toString(16).padStart(12, '0')}`,
  )
  const share = (environment: Record<string, string>, parent?: { isSampled: boolean }) =>
    ids.filter((id) => samplerOf(environment)?.(id, parent)).length / ids.length

  it('exports all traces and follows the caller, unless it is named', () => {
    expect(share({})).toBe(1)
    expect(share({}, { isSampled: false })).toBe(0)
    expect(share({ OTEL_TRACES_SAMPLER: 'always_on' }, { isSampled: false })).toBe(1)
    expect(share({ OTEL_TRACES_SAMPLER: 'always_off' }, { isSampled: true })).toBe(0)
    expect(share({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' })).toBe(0)
    expect(share({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, { isSampled: true })).toBe(1)
    expect(samplerOf({ OTEL_TRACES_SAMPLER: 'constructor' })).toBeUndefined()
  })

  it('exports a part of the traces', () => {
    const quarter = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }
    expect(share(quarter)).toBeCloseTo(0.25, 2)
    expect(share(quarter, { isSampled: true })).toBe(1)
    expect(share({ ...quarter, OTEL_TRACES_SAMPLER_ARG: 'some' })).toBe(1)
  })
})

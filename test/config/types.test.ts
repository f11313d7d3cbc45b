import { ToolLoopAgent } from 'ai'
import { expect, expectTypeOf, test } from 'vitest'
import type { Json } from '../../src/core/json.ts'
import {
  agent,
  defineConfig,
  type EntityId,
  type RunContext,
  runContext,
  type Team,
  team,
  workflow,
} from '../../src/index.ts'
import { scripted } from '../runnables/fixture.ts'

const docs = agent({ name: 'docs', run: () => 'yes' })

test('a config keeps the ids of its entities', () => {
  const config = defineConfig({
    agents: { docs, hosted: new ToolLoopAgent({ model: scripted() }) },
    teams: { desk: team({ members: [docs, 'docs', 'report'] }) },
    workflows: { report: workflow({ run: () => 'x' }) },
    server: { allowOrigins: ['http://localhost:3000'] },
  })
  expectTypeOf<EntityId<typeof config>>().toEqualTypeOf<'docs' | 'hosted' | 'desk' | 'report'>()
  expectTypeOf(config.teams.desk).toEqualTypeOf<Team<'docs' | 'report'>>()
})

test('what is no entity, or stands in the wrong place, does not compile', () => {
  // @ts-expect-error: a Date is no agent
  defineConfig({ agents: { x: new Date() } })
  // @ts-expect-error: a team stands under `teams`
  defineConfig({ agents: { x: team({ members: [docs] }) } })
  // @ts-expect-error: an agent stands under `agents`
  defineConfig({ workflows: { x: docs } })
  // @ts-expect-error: there is no such entity
  defineConfig({ agents: { docs }, teams: { desk: team({ members: ['docz'] }) } })
  // @ts-expect-error: a member is an id or an entity
  expect(() => team({ members: [new Date()] })).toThrow(/must be an id or an entity/)
  // @ts-expect-error: there is no such setting
  defineConfig({ agents: { docs }, server: { adress: ':0' } })
})

test('schedules and webhooks with a mistake do not compile', () => {
  const schedule = { cron: '0 3 * * *', agent: 'docs', input: 'hi' } as const
  const webhook = { url: 'https://hooks.test/', secret: 'whsec_' }
  defineConfig({ agents: { docs }, schedules: { nightly: schedule }, webhooks: { ops: webhook } })
  const later: string = 'docs'
  defineConfig({ agents: { docs }, schedules: { nightly: { ...schedule, agent: later } } })
  // @ts-expect-error: there is no such agent
  defineConfig({ agents: { docs }, schedules: { nightly: { ...schedule, agent: 'docz' } } })
  const agents = { docs }
  // @ts-expect-error: there is no such setting
  defineConfig({ agents, schedules: { x: { cron: '0 3 * * *', agent: 'docs', input: 'x', timezone: 'UTC' } } })
  // @ts-expect-error: cron is missing
  defineConfig({ agents: { docs }, schedules: { nightly: { agent: 'docs', input: 'hi' } } })
  // @ts-expect-error: there is no such event
  defineConfig({ agents: { docs }, webhooks: { ops: { ...webhook, events: ['run.done'] } } })
  // @ts-expect-error: there is no such setting
  defineConfig({ agents: { docs }, webhooks: { ops: { url: 'https://hooks.test/', secret: 'x', content: true } } })
})

test('members whose ids are known later compile', () => {
  const ids: string[] = ['docs']
  defineConfig({ agents: { docs }, teams: { desk: team({ members: ids }) } })
})

test('a type with a new name says which', () => {
  // @ts-expect-error: 'RunContext is now called AgentContext: rename it' has no `runId`
  const idOf = (context: RunContext) => context.runId
  expectTypeOf(idOf).toBeFunction()
})

test("authors see their part of a run's context", () => {
  agent({
    run(context) {
      expectTypeOf(context.answers).toEqualTypeOf<readonly { readonly name: string; readonly text: string }[]>()
      expectTypeOf(context.resumed?.input).toEqualTypeOf<Json | undefined>()
      expectTypeOf(context).not.toHaveProperty('child')
      expectTypeOf(context).not.toHaveProperty('recorded')
      expectTypeOf(context).not.toHaveProperty('entity')
      return ''
    },
  })
  workflow({
    run(context) {
      expectTypeOf(context).not.toHaveProperty('child')
      expectTypeOf(context).not.toHaveProperty('resumed')
    },
  })
  expectTypeOf(runContext).returns.not.toHaveProperty('child')
})

import type { z } from 'zod'
import { noConfig } from '../../core/entity/config.ts'
import type { EmittedEvent } from '../../core/event.ts'
import {
  type Emission,
  isRunnable,
  type MemberAnswer,
  markRunnable,
  type RunContext,
  type RunInput,
  type Runnable,
} from '../../core/runnable.ts'
import { Channel } from '../../runtime/channel.ts'
import { checkSettings, wrong } from '../../schema/check.ts'
import { anything, duration, flag, is, list, oneOf, settings as settingsOf, string } from '../../schema/field.ts'
import { modelChoice } from '../../schema/model.ts'
import { agent } from '../agent/agent.ts'
import { fingerprint } from '../agent/fingerprint.ts'
import { type HostableAgent, hostAgent, isSdkAgent } from '../agent/host.ts'
import { instructionsText } from '../agent/instructions.ts'
import type { AnyAgentSettings } from '../agent/settings.ts'
import { configurable, type Defaults, withDefaults } from '../base/defaults.ts'
import { deriveContext } from '../base/derived-context.ts'
import { Journal } from '../base/journal.ts'
import { insideRun } from '../base/run-context.ts'
import { type Entity, withToolLook } from '../tools/as-tool.ts'
import { toolEntriesOf, withToolEntries } from '../tools/check.ts'
import { assertModel, given, lead, leader, route, router } from './lead.ts'
import { askNext, type Member, type MemberOutcome, type TeamRun } from './member.ts'

const teamSettings = settingsOf({
  name: string().optional(),
  description: string().optional(),
  members: list(
    is<string | Runnable | HostableAgent>(
      'an id or an entity',
      (value) => (typeof value === 'string' && value !== '') || isRunnable(value) || isSdkAgent(value),
    ),
  )
    .min(1, { error: 'must name at least one entity' })
    .readonly(),
  /**
   * `sequence` (default): members run in order, each with the user's input and the answers so far; the last one
   * answers. `parallel`: all at once; with `instructions` a model combines their answers, else they are listed.
   * `route`: a model chooses who answers. `lead`: a model delegates to members as needed, and answers.
   */
  mode: oneOf(['lead', 'route', 'parallel', 'sequence']).default('sequence'),
  /** The model for `lead`, `route` or combining. Default: the config's. */
  model: modelChoice.optional(),
  instructions: anything<AnyAgentSettings['instructions']>().optional(),
  /** `user`: the model that leads, or combines the answers, remembers facts about the user. Members have settings of their own. */
  memory: settingsOf({ user: flag().default(false) }).optional(),
  /** When a lead stops, as in the AI SDK; default: the server's limit `run.steps`, which fails the run. */
  stopWhen: anything<AnyAgentSettings['stopWhen']>().optional(),
  /** Limit of a background run. */
  timeout: duration().optional(),
})
export interface TeamSettings<ID extends string = string> extends Omit<z.input<typeof teamSettings>, 'members'> {
  /** Entities, or ids of entities of the same config; at least one. */
  members: readonly (ID | Runnable | Entity | HostableAgent)[]
}
type CheckedTeam = z.output<typeof teamSettings>

function assertMemory({ mode, memory, instructions }: CheckedTeam): void {
  if (memory?.user !== true || mode === 'lead' || (mode === 'parallel' && instructions !== undefined)) return
  throw wrong(
    'memory.user',
    "team(): `memory.user` is for a team whose model answers: mode 'lead', or 'parallel' with `instructions`; set it in the members",
  )
}

/** `memberIds`: the ids that this team and teams in it refer to. */
export interface Team<ID extends string = string> extends Entity<'team'> {
  readonly memberIds: readonly ID[]
}

/**
 * A team. Each call of a member is a step of the team's run and a run of its own with the session's history and state;
 * it ends with the team's run at the latest. A failing member fails the run, except in mode `lead`, where the model
 * gets the error. A member that waits for input pauses the team's run. Wrong settings throw `invalid_request` naming
 * the key.
 */
export function team<const ID extends string = never>(settings: TeamSettings<ID>): Team<ID> {
  const checked = checkSettings('team()', teamSettings, settings)
  assertMemory(checked)
  return build(checked, checked.members.map(toMember), {}) as Team<ID>
}

function toMember(member: CheckedTeam['members'][number], index: number): Member {
  if (typeof member === 'string') return { name: member, entity: member }
  const entity = isRunnable(member) ? member : hostAgent(member)
  return { name: entity.name ?? `member ${index + 1}`, entity }
}

function isTeam(entity: Runnable): entity is Team {
  return 'memberIds' in entity
}

type Perform = (run: TeamRun, input: RunInput) => Promise<unknown>

function build(settings: CheckedTeam, members: readonly Member[], defaults: Defaults): Team {
  const { model, fallbackModels, modelSettings, perform } = toPerformance(settings, members, defaults)
  const entity = markRunnable({
    kind: 'team',
    name: settings.name,
    description: settings.description,
    model,
    ...(fallbackModels === undefined ? {} : { fallbackModels }),
    ...(modelSettings === undefined ? {} : { modelSettings }),
    tools: [],
    knowledge: false,
    sideEffects: true,
    repeats: 'steps',
    memberIds: members.flatMap(({ entity }) =>
      typeof entity === 'string' ? [entity] : isTeam(entity) ? entity.memberIds : [],
    ),
    timeoutMs: settings.timeout,
    takes: settings.mode === 'route' || model === undefined ? [] : ['instructions'],
    describe: async () => ({
      ...noConfig,
      fallback_models: [...(fallbackModels ?? [])],
      instructions: instructionsText(settings.instructions),
      members: members.map(({ name }) => name),
      mode: settings.mode,
      version: members.every(({ entity }) => typeof entity === 'string') ? (fingerprint(settings) ?? null) : null,
    }),
    run: (input, context) => insideRun(context, () => stream(perform, input, context)),
  } satisfies Omit<Team, 'description' | 'inputSchema'> & Runnable<'team'>)
  const bindMember = (next: Defaults) => (member: Member) =>
    typeof member.entity === 'string' ? member : { ...member, entity: withDefaults(member.entity, next) }
  const inside = members.flatMap(({ entity }) => (typeof entity === 'string' ? [] : toolEntriesOf(entity)))
  return configurable(withToolEntries(withToolLook(entity), inside), (next) =>
    build(settings, members.map(bindMember(next)), next),
  )
}

function toPerformance(
  { mode, model, instructions, stopWhen, memory }: CheckedTeam,
  members: readonly Member[],
  defaults: Defaults,
): Pick<Runnable, 'model' | 'fallbackModels' | 'modelSettings'> & { perform: Perform } {
  const settings = { model, instructions, stopWhen, memory }
  if (mode === 'lead') {
    const entity = withDefaults(leader(settings, members), defaults)
    return modelled(mode, entity, (run, input) => lead(run, entity, members, input))
  }
  if (mode === 'route') {
    const entity = withDefaults(router(settings, members), defaults)
    return modelled(mode, entity, async (run, input) =>
      pauseWith(run, [await route(run, entity, members, input, defaults)]),
    )
  }
  if (mode === 'sequence') return { perform: (run, input) => sequence(run, members, input) }
  if (instructions === undefined) return { perform: (run, input) => parallel(run, members, input, recite) }
  const writer = withDefaults(agent(given({ model, instructions, memory })), defaults)
  return modelled(mode, writer, (run, input) =>
    parallel(run, members, input, (_run, answers) => relay(run, writer, withAnswers(input, answers), answers)),
  )
}

function modelled(mode: string, entity: Runnable, perform: Perform) {
  const { fallbackModels, modelSettings } = entity
  return {
    model: entity.model,
    ...(fallbackModels === undefined ? {} : { fallbackModels }),
    ...(modelSettings === undefined ? {} : { modelSettings }),
    perform: async (run: TeamRun, input: RunInput) => {
      assertModel(mode, entity)
      await perform(run, input)
    },
  }
}

async function* stream(perform: Perform, input: RunInput, context: RunContext): AsyncGenerator<Emission> {
  const queue = new Channel<EmittedEvent>()
  // Requests of members belong to the members' own runs.
  const events = (context.resumed?.events ?? []).filter(({ type }) => type !== 'input_required')
  const journal = new Journal(events, (error) => queue.close({ error }))
  const stop = () => queue.close({ error: context.signal.reason })
  context.signal.addEventListener('abort', stop, { once: true })
  perform({ context, journal, emit: (event) => queue.push(event) }, input).then(
    () => queue.close(),
    (error: unknown) => queue.close({ error }),
  )
  try {
    yield* queue
  } finally {
    context.signal.removeEventListener('abort', stop)
  }
}

async function sequence(run: TeamRun, members: readonly Member[], input: RunInput): Promise<void> {
  const answers: MemberAnswer[] = []
  for (const member of members) {
    const outcome = await askNext(run, member, withAnswers(input, answers), member === members.at(-1), [...answers])
    if (await pauseWith(run, [outcome])) return
    if ('text' in outcome) answers.push({ name: member.name, text: outcome.text })
  }
}

async function parallel(
  run: TeamRun,
  members: readonly Member[],
  input: RunInput,
  say: (run: TeamRun, answers: readonly MemberAnswer[]) => Promise<void>,
): Promise<void> {
  const outcomes = await Promise.all(members.map((member) => askNext(run, member, input, false)))
  if (await pauseWith(run, outcomes)) return
  const answers = outcomes.map((outcome, place) => {
    return { name: members[place]?.name ?? '', text: 'text' in outcome ? outcome.text : '' }
  })
  await say(run, answers)
}

/** Passes on the members' requests. False when none waits. */
async function pauseWith(run: TeamRun, outcomes: readonly MemberOutcome[]): Promise<boolean> {
  const asks = outcomes.flatMap((outcome) => ('asks' in outcome ? outcome.asks : []))
  for (const event of asks) await run.emit(event)
  return asks.length > 0
}

async function recite(run: TeamRun, answers: readonly MemberAnswer[]): Promise<void> {
  const text = answers.map((answer) => `${answer.name}:\n${answer.text}`).join('\n\n')
  await run.emit({ type: 'text_delta', text })
}

async function relay(run: TeamRun, entity: Runnable, input: RunInput, answers: readonly MemberAnswer[]): Promise<void> {
  for await (const emission of entity.run(input, deriveContext(run.context, { answers }))) {
    await run.emit(typeof emission === 'string' ? { type: 'text_delta', text: emission } : emission)
  }
}

/** The answers are a part of their own after the user's, which stay unchanged. */
function withAnswers({ parts, text }: RunInput, answers: readonly MemberAnswer[]): RunInput {
  if (answers.length === 0) return { parts, text }
  const said = answers.map((answer) => `Answer of ${answer.name}:\n${answer.text}`).join('\n\n')
  const added = `\n\nAnswers of the team so far:\n\n${said}`
  return { parts: [...parts, { type: 'text', text: added }], text: text + added }
}

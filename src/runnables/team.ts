import { type Duration, parseDuration } from '../core/duration.ts'
import type { StepEnd } from '../core/event.ts'
import { createId } from '../core/id.ts'
import {
  type Emission,
  isRunnable,
  markRunnable,
  type RunContext,
  type RunInput,
  type Runnable,
} from '../core/runnable.ts'
import { type Binding, bindable, bindModel } from './binding.ts'
import { descend } from './derived-context.ts'
import { type HostableAgent, hostAgent, isSdkAgent } from './host.ts'
import { messageOf } from './json-value.ts'
import { checkSettings, describe, duration, oneOf, wrong } from './setting-check.ts'

export interface TeamSettings {
  name?: string
  description?: string
  /** Ids of entities of the same config, or entities themselves; at least one. */
  members: readonly (string | Runnable | HostableAgent)[]
  /** `sequence` (default): one after the other, each with the user's input and the answers so far. */
  mode?: 'sequence'
  /** Limit of a background run. */
  timeout?: Duration
}

/**
 * A team that answers with its last member's answer. Each member is a step of the run; what the members before the last one
 * said is the output of their steps, and only the last one's text and sources are the run's. A member that fails, fails the
 * run. Wrong settings throw `invalid_request` naming the key.
 */
export function team(settings: TeamSettings): Runnable {
  checkSettings('team()', settings, {
    name: 'string',
    description: 'string',
    members: 'array',
    mode: oneOf('sequence'),
    timeout: duration,
  })
  if (settings.members === undefined || settings.members.length === 0) {
    throw wrong('members', 'team(): `members` must name at least one entity')
  }
  const members = settings.members.map((member, index) => {
    if (typeof member === 'string' && member !== '') return member
    if (isRunnable(member)) return member
    if (isSdkAgent(member)) return hostAgent(member)
    throw wrong(`members.${index}`, `team(): \`members.${index}\` must be an id or an entity, not ${describe(member)}`)
  })
  return build(settings, members)
}

function build(settings: TeamSettings, members: readonly (string | Runnable)[]): Runnable {
  const entity: Runnable = markRunnable({
    kind: 'team',
    name: settings.name,
    description: settings.description,
    tools: [],
    knowledge: false,
    effects: 'any',
    timeoutMs: parseDuration(settings.timeout),
    run: (input, context) => sequence(entity, members, input, context),
  })
  const bindMember = (binding: Binding) => (member: string | Runnable) =>
    typeof member === 'string' ? member : bindModel(member, binding)
  return bindable(entity, (binding) => build(settings, members.map(bindMember(binding))))
}

interface Answer {
  name: string
  text: string
}

async function* sequence(
  team: Runnable,
  members: readonly (string | Runnable)[],
  input: RunInput,
  context: RunContext,
): AsyncGenerator<Emission> {
  const answers: Answer[] = []
  for (const [place, member] of members.entries()) {
    const entity = typeof member === 'string' ? context.entity(member) : member
    const id = typeof member === 'string' ? member : (member.name ?? `member ${place + 1}`)
    const inside = descend(context, team, { entityId: id })
    const paused = yield* step(entity, id, withAnswers(input, answers), inside, answers, place === members.length - 1)
    if (paused) return
  }
}

/** Runs one member and adds its answer. True when the member waits for input, so that nobody goes on without it. */
async function* step(
  entity: Runnable,
  name: string,
  input: RunInput,
  context: RunContext,
  answers: Answer[],
  last: boolean,
): AsyncGenerator<Emission, boolean> {
  const step_id = createId('step')
  const startedAt = Date.now()
  const end = (rest: Pick<StepEnd, 'status' | 'output' | 'error'>): StepEnd => {
    return { type: 'step_end', step_id, ...rest, duration_ms: Date.now() - startedAt }
  }
  yield { type: 'step_start', step_id, name }
  let text = ''
  let paused = false
  try {
    for await (const emission of entity.run(input, context)) {
      const event = typeof emission === 'string' ? ({ type: 'text_delta', text: emission } as const) : emission
      if (event.type === 'input_required') paused = true
      if (event.type === 'step_start' && event.parent_id === undefined) yield { ...event, parent_id: step_id }
      else if (event.type === 'text_delta') {
        text += event.text
        if (last) yield event
      } else if (event.type !== 'source' || last) yield event
    }
  } catch (error) {
    if (context.signal.aborted) yield end({ status: 'cancelled' })
    else yield end({ status: 'failed', error: { message: messageOf(error) } })
    throw error
  }
  answers.push({ name, text })
  if (!paused) yield end({ status: 'completed', output: text })
  return paused
}

/** The answers stand in a part of their own, after the user's, which stay as they came. */
function withAnswers({ parts, text }: RunInput, answers: readonly Answer[]): RunInput {
  if (answers.length === 0) return { parts, text }
  const said = answers.map(({ name, text }) => `Answer of ${name}:\n${text}`).join('\n\n')
  const added = `\n\nAnswers of the team so far:\n\n${said}`
  return { parts: [...parts, { type: 'text', text: added }], text: text + added }
}

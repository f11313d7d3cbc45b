import type { ToolSet } from 'ai'
import { memberToolName } from '../../core/again/plan.ts'
import { AppError, messageOf } from '../../core/error.ts'
import type { FilePart } from '../../core/message.ts'
import type { RunContext, RunInput, Runnable } from '../../core/runnable.ts'
import { offlineModelName } from '../../models/offline.ts'
import { wrong } from '../../schema/check.ts'
import { agent } from '../agent/agent.ts'
import type { AnyAgentSettings } from '../agent/settings.ts'
import type { Defaults } from '../base/defaults.ts'
import { deriveContext } from '../base/derived-context.ts'
import { loadSdk } from '../base/sdk.ts'
import { bounded, noLimits } from '../limits/bounded.ts'
import { readCheckpoint, type ToolOutput, toCheckpoint, withOutputs } from '../model/checkpoint.ts'
import { paused } from '../model/run.ts'
import { toolSource } from '../tools/source.ts'
import { textInput } from '../tools/text-input.ts'
import { WaitingCall } from '../tools/waiting-call.ts'
import { ask, askNext, childOf, entityOf, goOn, type Member, type MemberOutcome, type TeamRun } from './member.ts'

type Leading = { [KEY in 'model' | 'instructions' | 'stopWhen' | 'memory']: AnyAgentSettings[KEY] | undefined }

/** By the signal, which is one per execution of a run. */
const runs = new WeakMap<AbortSignal, TeamRun>()
/** The files of the team's input; a member gets them with its task. */
const files = new WeakMap<AbortSignal, readonly FilePart[]>()

/** The agent that delegates: each member is a tool that takes a task in the model's own words. */
export function leader(settings: Leading, members: readonly Member[]): Runnable {
  return agent({
    instructions:
      'You lead a team. Delegate to its members by calling their tools, then answer from what they say, in your own words.',
    ...given(settings),
    tools: { members: memberTools(members, true) },
  } as Parameters<typeof agent>[0])
}

export function router(settings: Leading, members: readonly Member[]): Runnable {
  return agent({
    instructions: 'Choose the member of the team who should answer, by calling its tool.',
    ...given(settings),
    tools: { members: memberTools(members, false) },
    toolChoice: 'required',
  } as Parameters<typeof agent>[0])
}

/** The settings that are set. */
export function given(settings: Partial<Leading>): object {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

/** `lead`: the model's answer is the team's. */
export async function lead(run: TeamRun, leader: Runnable, members: readonly Member[], input: RunInput): Promise<void> {
  const context = await takeUp(run, members)
  if (context === undefined) return
  runs.set(context.signal, run)
  files.set(
    context.signal,
    input.parts.filter((part) => part.type === 'file'),
  )
  for await (const emission of leader.run(input, context)) {
    await run.emit(typeof emission === 'string' ? { type: 'text_delta', text: emission } : emission)
  }
}

/** `route`: the chosen member answers the user's own input. */
export async function route(
  run: TeamRun,
  router: Runnable,
  members: readonly Member[],
  input: RunInput,
  { limits = noLimits }: Defaults,
): Promise<MemberOutcome> {
  const { context, emit } = run
  let chosen = childOf(context, () => true)?.name ?? context.again?.start?.step
  if (chosen === undefined) {
    runs.set(context.signal, run)
    for await (const emission of bounded(router.run(input, context), limits)) {
      if (typeof emission === 'string') continue
      if (emission.type === 'tool_call') chosen ??= members.find((member) => toolName(member) === emission.name)?.name
      else if (emission.type === 'model_call_start' || emission.type === 'model_call_end') await emit(emission)
    }
  }
  const member = members.find(({ name }) => name === chosen)
  if (member === undefined) throw new AppError('run_failed', 'The model chose no member of the team.')
  return askNext(run, member, input, true)
}

/** Throws `run_failed` without a model. */
export function assertModel(mode: string, { model }: Runnable): void {
  if (model !== offlineModelName) return
  throw new AppError(
    'run_failed',
    `A team in mode '${mode}' needs a model: set \`model\` in the team or in the config, or use mode 'sequence' or 'parallel'.`,
  )
}

function memberTools(members: readonly Member[], execute: boolean) {
  const names = members.map(toolName)
  const twice = names.findIndex((name, place) => names.indexOf(name) < place)
  if (twice >= 0) {
    const [one, other] = members.filter((_, place) => names[place] === names[twice])
    throw wrong(
      'members',
      `team(): the members '${one?.name}' and '${other?.name}' have the same name for the model, '${names[twice]}'; rename one of them`,
    )
  }
  return toolSource(
    { description: 'The members of the team.' },
    {
      async open(_key, context) {
        const { tool } = await loadSdk()
        const inputSchema = await textInput('task', 'What is asked of the member, with all that it has to know.')
        const toTool = (member: Member): ToolSet[string] => {
          const { description } = entityOf(member, context)
          const about = { description: description ?? `Asks '${member.name}'.`, inputSchema }
          return execute ? tool({ ...about, execute: ({ task }) => delegate(context, member, task) }) : tool(about)
        }
        return members.map((member) => {
          return { name: toolName(member), own: member.name, isInside: true, tool: toTool(member) }
        })
      },
    },
  )
}

async function delegate(context: RunContext, member: Member, task: string): Promise<string | WaitingCall> {
  const run = runs.get(context.signal)
  if (run === undefined) throw new AppError('internal', 'A team member was called outside its team.')
  const parts = [{ type: 'text' as const, text: task }, ...(files.get(context.signal) ?? [])]
  const outcome = await ask(run, member, { parts, text: task }, false)
  return 'text' in outcome ? outcome.text : new WaitingCall(outcome.asks, outcome.runId)
}

function toolName({ name }: Member): string {
  return memberToolName(name)
}

/** Resumes the waiting members. Undefined when one of them waits again: the run then pauses too. */
async function takeUp(run: TeamRun, members: readonly Member[]): Promise<RunContext | undefined> {
  const { context, emit } = run
  const { resumed } = context
  const checkpoint = readCheckpoint(resumed)
  if (resumed === undefined || checkpoint?.inside === undefined) return deriveContext(context, {})
  const waiting = new Map<string, WaitingCall>()
  const outputs = new Map<string, ToolOutput>()
  await Promise.all(
    Object.entries(checkpoint.inside).map(async ([callId, runId]) => {
      const waits = childOf(context, ({ child_run_id }) => child_run_id === runId)
      const member = members.find(({ name }) => name === waits?.name)
      if (waits === undefined || member === undefined)
        throw new AppError('run_failed', `The member of '${runId}' is gone.`)
      const startedAt = Date.now()
      const end = (outcome: { output: string } | { error: { message: string } }) =>
        emit({
          type: 'tool_result',
          call_id: callId,
          name: toolName(member),
          ...outcome,
          duration_ms: Date.now() - startedAt,
        })
      try {
        const outcome = await goOn(run, member, waits, false)
        if (!('text' in outcome)) return void waiting.set(callId, new WaitingCall(outcome.asks, outcome.runId))
        outputs.set(callId, { type: 'text', value: outcome.text })
        await end({ output: outcome.text })
      } catch (error) {
        // Like any tool error, it goes to the model.
        context.signal.throwIfAborted()
        outputs.set(callId, { type: 'error-text', value: messageOf(error) })
        await end({ error: { message: messageOf(error) } })
      }
    }),
  )
  const messages = withOutputs(checkpoint.messages, outputs)
  if (waiting.size > 0) {
    for (const event of paused([], messages, waiting)) await emit(event)
    return undefined
  }
  const place = resumed.events.findLastIndex((event) => event.type === 'input_required' && event.messages !== undefined)
  const events = resumed.events.map((event, at) =>
    at === place && event.type === 'input_required' ? { ...event, messages: toCheckpoint({ messages }) } : event,
  )
  return deriveContext(context, { resumed: { ...resumed, events } })
}

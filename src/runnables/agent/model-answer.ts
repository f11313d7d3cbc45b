import type { ModelMessage, ToolSet } from 'ai'
import { searchToolName } from '../../core/again/plan.ts'
import { AppError, messageOf } from '../../core/error.ts'
import type { EmittedEvent } from '../../core/event.ts'
import { type ModelChoice, type ModelObject, type ModelSetting, modelsOf } from '../../core/model.ts'
import type { RunGiven } from '../../core/run.ts'
import type { RunContext, RunInput } from '../../core/runnable.ts'
import { type Candidate, fallbackModel } from '../../models/fallback.ts'
import { describeModel } from '../../models/name.ts'
import { resolveModel } from '../../models/resolve.ts'
import { Channel } from '../../runtime/channel.ts'
import { once } from '../../runtime/once.ts'
import { withCallSettings } from '../again/edited-model.ts'
import { answeredTools, createGate } from '../again/gate.ts'
import { editedInstructions } from '../again/messages.ts'
import { askingOf } from '../base/ask-scope.ts'
import type { Defaults } from '../base/defaults.ts'
import { contextHere } from '../base/run-context.ts'
import { loadSdk } from '../base/sdk.ts'
import { assertAccepted } from '../files/addresses.ts'
import { fetchingOf } from '../files/fetch.ts'
import { ModelFiles } from '../files/model-files.ts'
import { bounded, noLimits } from '../limits/bounded.ts'
import { StepLimit } from '../limits/step-limit.ts'
import { callAgain } from '../model/again.ts'
import { askingTools } from '../model/asking-call.ts'
import { resumedMessages } from '../model/checkpoint.ts'
import { hookedModel } from '../model/hook.ts'
import { ModelObserver } from '../model/observer.ts'
import { promptContent } from '../model/prompt.ts'
import { runAgent } from '../model/run.ts'
import { type Approve, type RunParts, sdkAgents } from '../model/sdk-agent.ts'
import { callersOutput, isStructured, structured, wholeOutput } from '../model/structured.ts'
import { takeUp } from '../model/take-up.ts'
import { equipTools } from '../model/tool-calls.ts'
import { decideApprovals } from '../tools/approvals.ts'
import { assertNotReplaced, clientResults, clientToolNames, withClientTools } from '../tools/client-tools.ts'
import { openTools, toToolSet } from '../tools/source.ts'
import { textInput } from '../tools/text-input.ts'
import { waitsInside } from '../tools/waiting-call.ts'
import { callOf } from './call.ts'
import { instructionsFor } from './instructions.ts'
import { remember } from './memory.ts'
import { passagesText, retrieve, sourceEvent } from './passages.ts'
import type { CheckedAgent, CheckedKnowledge } from './schema.ts'
import { factsText, memoryToolNames, memoryTools } from './user-memory.ts'

export async function searchToolLook() {
  return {
    description: 'Searches the knowledge base and gives the passages that fit best, numbered, with their sources.',
    inputSchema: await textInput('query', 'What to look for, in the words of the documents.'),
  }
}

/** Answers with a model, which is resolved at the first run. `checkInput` is for a server that fetches no files. */
export function modelAnswer(settings: CheckedAgent, choice: ModelChoice, defaults: Defaults) {
  const { root, limits = noLimits } = defaults
  const stopWhen = [settings.stopWhen ?? []].flat()
  const [setting, ...others] = modelsOf(choice)
  const label = describeModel(setting)
  const { knowledge } = settings
  const hook = settings.hooks?.modelCall
  const createAgent = sdkAgents(settings, root, others.length + 1)
  const fetching = fetchingOf(defaults)
  const remembering = memoryToolNames(settings)
  /** A run without a user has none; a test that plays recorded results needs no user. */
  const memoryToolsFor = async (context: RunContext) =>
    settings.memory.user && (context.userId !== null || defaults.testDoubles?.tools !== undefined)
      ? memoryTools(context)
      : {}
  // A missing package or key of the server is no fault of the request.
  const resolveFor = (wanted: ModelSetting) =>
    resolveModel(wanted, { root }).catch((error: unknown) => {
      throw new AppError('run_failed', messageOf(error), { cause: error })
    })
  const resolve = once(() => resolveFor(setting))
  const first = { name: label, open: resolve }
  const fallbacks = others.map((one) => ({ name: describeModel(one), open: once(() => resolveFor(one)) }))
  async function* firstMessages(
    input: RunInput,
    context: RunContext,
    files: ModelFiles,
  ): AsyncGenerator<EmittedEvent, ModelMessage[]> {
    const facts = factsText(context.user.facts)
    const messages = await remember(settings.memory, context, files)
    if (facts !== undefined) messages.unshift({ role: 'user', content: facts })
    let before: string | undefined
    if (knowledge !== undefined && knowledge.mode !== 'tool' && input.text.trim() !== '') {
      const { hits, event } = await retrieve(knowledge, input.text, context)
      yield event
      for (const [place, hit] of hits.entries()) yield sourceEvent(hit, place + 1)
      if (hits.length > 0) before = passagesText(hits)
    }
    messages.push({ role: 'user', content: await promptContent(input.parts, files, { before }) } satisfies ModelMessage)
    return messages
  }
  async function checkInput({ parts }: RunInput, given?: RunGiven): Promise<void> {
    await assertAccepted(parts, resolve, 'input.parts')
    const told = given?.history?.flatMap((message) => message.parts) ?? []
    await assertAccepted(told, resolve, 'history')
  }
  async function chosen(equip: RunParts['equip'], observer: ModelObserver): Promise<ModelObject> {
    if (others.length === 0) return equip(await resolve(), label)
    const equipped = ({ name, open }: Candidate) => ({ name, open: once(async () => equip(await open(), name)) })
    const { timeout } = settings
    const { firstChunkMs, ...whole } = typeof timeout === 'object' ? timeout : { totalMs: timeout }
    const limits = [whole.totalMs, 'stepMs' in whole ? whole.stepMs : undefined, defaults.runTimeoutMs]
    return fallbackModel([equipped(first), ...fallbacks.map(equipped)], {
      firstFragmentMs: firstChunkMs,
      withinMs: Math.min(...limits.map((limit) => limit ?? Infinity)),
      onFallback: (fallback) => observer.onFallback(fallback),
    })
  }
  async function* run(input: RunInput, context: RunContext): AsyncGenerator<EmittedEvent> {
    const queue = new Channel<EmittedEvent>()
    const search =
      knowledge?.mode === 'tool' ? { [searchToolName]: await searchTool(knowledge, context, queue) } : undefined
    const given = { ...settings.tools, ...(await memoryToolsFor(context)) }
    const configured = defaults.testDoubles?.tools?.(given) ?? given
    const own = await openTools(configured, search, context, defaults)
    const opened = await withClientTools(own, context.given?.client_tools)
    const clientTools = clientToolNames(opened)
    const tools = toToolSet(opened)
    const { again } = context
    const gate = again && createGate(again, opened)
    const approve: Approve = (approval, present = {}) => {
      assertNotReplaced(opened, tools, present)
      const decided = decideApprovals(approval, opened, configured, [...remembering, ...Object.keys(present)])
      return gate === undefined ? decided : gate.approval(decided)
    }
    if (settings.prepareCall === undefined) approve(settings.toolApproval)
    const files = new ModelFiles(context, fetching)
    const here = () => callOf(input, contextHere(context))
    const made = equipTools(tools, settings, here, limits, files, (event) => void queue.offer(event))
    const equipped = answeredTools(made, opened, again)
    const results = clientResults(context.resumed, limits.toolResult)
    const start = again?.start
    const resumed = start === undefined ? await resumedMessages(context, opened, files, results.parts) : undefined
    yield* results.events
    let continued: ModelMessage[] | 'paused' | undefined
    if (start !== undefined && again !== undefined && gate !== undefined) {
      const approval = decideApprovals(settings.toolApproval, opened, configured, remembering)
      const options = { again, start, gate, opened, files, limits: limits.toolResult, approval }
      continued = yield* takeUp(options, input, context)
    }
    if (continued === 'paused') return
    let messages = resumed?.messages ?? continued ?? (yield* firstMessages(input, context, files))
    if (resumed !== undefined && resumed.again.length > 0) {
      const { toolsContext } = settings
      const { again, hashes } = resumed
      const calls = { messages, again, hashes, tools: equipped, toolsContext, files }
      const now = yield* callAgain(calls, context)
      if (now === undefined) return
      messages = now
    }
    const observer = new ModelObserver()
    const edited = again?.edit.model as ModelSetting | undefined
    const equip = async (given: ModelObject, givenName: string) => {
      const model = edited === undefined ? given : await resolveFor(edited)
      const name = edited === undefined ? givenName : describeModel(edited)
      const watched = await withCallSettings(await observer.watch(model, name), again?.edit.settings)
      return hook === undefined ? watched : hookedModel(watched, { name, hook, run: callOf(input, context) })
    }
    const steps = stopWhen.length === 0 ? new StepLimit(limits.run.steps, context.resumed) : undefined
    const schema = context.given?.output_schema
    const asked = schema && (await callersOutput(schema))
    if (resumed !== undefined || continued !== undefined) steps?.assertStepLeft()
    const agent = await createAgent({
      model: edited === undefined ? await chosen(equip, observer) : await equip(await resolveFor(edited), label),
      tools: askingTools(
        equipped,
        askingOf(context, (event) => queue.push(event)),
      ),
      equip,
      approve,
      clientTools,
      download: files.download,
      stopWhen: [...stopWhen, waitsInside, ...(steps === undefined ? [] : [steps.stop])],
      own: await instructionsFor(settings.instructions, input, contextHere(context)),
      instructions: context.given?.instructions,
      instead: again && editedInstructions(again),
      output: asked && wholeOutput(asked),
    })
    const { signal } = context
    const denied = resumed?.denied
    const name = edited === undefined ? label : describeModel(edited)
    const told = {
      queue,
      files,
      observer,
      label: name,
      setting: edited ?? choice,
      steps,
      tools: opened,
      clientTools,
      denied,
    }
    const events = runAgent({ agent, messages, signal, ...told })
    if (asked !== undefined) yield* structured(bounded(events, limits), asked, '`output_schema`')
    else yield* isStructured(settings.output) ? structured(bounded(events, limits), settings.output) : events
  }
  return fetching.isOn ? { run } : { run, checkInput }
}

async function searchTool(
  knowledge: CheckedKnowledge,
  context: RunContext,
  queue: Channel<EmittedEvent>,
): Promise<ToolSet[string]> {
  const { tool } = await loadSdk()
  let found = context.resumed?.events.filter((event) => event.type === 'source').length ?? 0
  return tool({
    ...(await searchToolLook()),
    async execute({ query }) {
      const { hits, event } = await retrieve(knowledge, query, context)
      const first = found + 1
      found += hits.length
      void queue.push(event)
      for (const [place, hit] of hits.entries()) void queue.push(sourceEvent(hit, first + place))
      return hits.length === 0 ? 'Nothing was found.' : passagesText(hits, first)
    },
  })
}

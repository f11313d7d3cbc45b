import { searchToolName } from '../../core/again/plan.ts'
import { checkSettings, wrong } from '../../schema/check.ts'
import { checkApprovalNames } from '../tools/approvals.ts'
import { agentSettings, type CheckedAgent } from './schema.ts'
import type { AnyAgentSettings } from './settings.ts'
import { memoryToolNames } from './user-memory.ts'

/** The settings that may be combined with `run`; all others are about the model, which `run` replaces. */
const withRun: ReadonlySet<string> = new Set([
  'name',
  'description',
  'run',
  'cache',
  'timeout',
  'sideEffects',
  'knowledge',
  'guardrails',
  'hooks',
  'memory',
])

/** The settings with their defaults. Throws `invalid_request` with every wrong key and its expected value. */
export function checkAgentSettings(settings: AnyAgentSettings): CheckedAgent {
  const checked = checkSettings('agent()', agentSettings, settings) as CheckedAgent
  checkTools(checked)
  const useless = settings.run === undefined ? undefined : uselessWithRun(settings)
  if (useless !== undefined) {
    throw wrong(
      useless,
      `agent(): \`run\` takes the place of the model, so \`${useless}\` would do nothing; leave one of them out`,
    )
  }
  if (settings.run === undefined && !checked.sideEffects) {
    throw wrong(
      'sideEffects',
      'agent(): `sideEffects: false` is for an agent with a `run` of its own; a model call is a side effect',
    )
  }
  if (checked.memory.user) checkUserMemory(checked)
  return checked
}

function checkUserMemory({ cache, sideEffects }: CheckedAgent): void {
  if (cache?.shared === true) {
    throw wrong('cache.shared', 'agent(): with `memory.user` answers depend on the user; leave `cache.shared` out')
  }
  if (!sideEffects) {
    throw wrong('sideEffects', 'agent(): `sideEffects: false` does not go with `memory.user`, which stores facts')
  }
}

/** The first setting that has no effect beside `run`. */
function uselessWithRun({ hooks, memory, ...settings }: AnyAgentSettings): string | undefined {
  const useless = Object.entries(settings).find(([key, value]) => value !== undefined && !withRun.has(key))?.[0]
  if (useless !== undefined) return useless
  const ofSession = Object.entries(memory ?? {}).find(([key, value]) => value !== undefined && key !== 'user')?.[0]
  if (ofSession !== undefined) return `memory.${ofSession}`
  const hook = Object.entries(hooks ?? {}).find(([key, value]) => value !== undefined && key !== 'run')?.[0]
  return hook === undefined ? undefined : `hooks.${hook}`
}

function checkTools(settings: CheckedAgent): void {
  const { tools = {}, knowledge, toolApproval, prepareCall } = settings
  const searches = knowledge?.mode === 'tool' ? [searchToolName] : []
  if (searches.length > 0 && searchToolName in tools) {
    throw wrong(
      `tools.${searchToolName}`,
      `agent(): \`knowledge.mode\` 'tool' adds a tool '${searchToolName}'; give yours another name`,
    )
  }
  const remembers = memoryToolNames(settings)
  const taken = remembers.find((name) => name in tools)
  if (taken !== undefined) {
    throw wrong(`tools.${taken}`, `agent(): \`memory.user\` adds a tool '${taken}'; give yours another name`)
  }
  // The tools that `prepareCall` adds are only known in a run.
  if (prepareCall === undefined) checkApprovalNames(toolApproval, tools, [...searches, ...remembers])
}

import { searchToolName } from '../../core/again/plan.ts'
import { checkSettings, wrong } from '../../schema/check.ts'
import { checkApprovalNames } from '../tools/approvals.ts'
import { agentSettings, type CheckedAgent } from './schema.ts'
import type { AnyAgentSettings } from './settings.ts'

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
  return checked
}

/** The first setting that has no effect beside `run`. */
function uselessWithRun({ hooks, ...settings }: AnyAgentSettings): string | undefined {
  const useless = Object.entries(settings).find(([key, value]) => value !== undefined && !withRun.has(key))?.[0]
  if (useless !== undefined) return useless
  const hook = Object.entries(hooks ?? {}).find(([key, value]) => value !== undefined && key !== 'run')?.[0]
  return hook === undefined ? undefined : `hooks.${hook}`
}

function checkTools({ tools = {}, knowledge, toolApproval, prepareCall }: CheckedAgent): void {
  const searches = knowledge?.mode === 'tool' ? [searchToolName] : []
  if (searches.length > 0 && searchToolName in tools) {
    throw wrong(
      `tools.${searchToolName}`,
      `agent(): \`knowledge.mode\` 'tool' adds a tool '${searchToolName}'; give yours another name`,
    )
  }
  // The tools that `prepareCall` adds are only known in a run.
  if (prepareCall === undefined) checkApprovalNames(toolApproval, tools, searches)
}

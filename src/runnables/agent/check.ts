import { checkSettings, wrong } from '../../schema/check.ts'
import { checkApprovalNames } from '../tools/approvals.ts'
import { searchToolName } from './model-answer.ts'
import { agentSettings, type CheckedAgent } from './schema.ts'
import type { AnyAgentSettings } from './settings.ts'

/** What goes with a `run` of the agent's own; everything else is about the model that it replaces. */
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

/** The settings with their defaults. Throws `invalid_request` with every key that is wrong and what it should be. */
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

/** The first setting that is about the model, which `run` takes the place of. */
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
  // What `prepareCall` brings is known with the first run.
  if (prepareCall === undefined) checkApprovalNames(toolApproval, tools, searches)
}

import type { AgainEdit } from '../../core/again/again.ts'
import type { AgainPlan } from '../../core/again/plan.ts'
import { invalid } from '../../core/error.ts'
import { problemOfModel } from '../../core/model.ts'
import { isTry, type RunRecord } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { AgainRequest } from './request.ts'

const offline = 'offline'
const modelEdits = ['instructions', 'model', 'settings', 'messages'] as const

/** Throws `invalid_request` for what can't be repeated that way. */
export function checkAgain(
  run: RunRecord,
  runnable: Runnable,
  { from, edit = {}, after, times, keep }: AgainRequest,
): void {
  const name = `'${run.entity_id}'`
  if (runnable.repeats !== 'steps') {
    const why = `${name} answers with code of its own, which can neither begin in the middle nor ask before it acts`
    if (from !== undefined) throw invalid(`${why}. Leave \`from\` out.`, 'from')
    if (after !== 'live') throw invalid(`${why}. Send \`after: 'live'\` to run it as it is.`, 'after')
  }
  if (from !== undefined && run.truncated) {
    throw invalid('The last moments of this run are not in the record. Leave `from` out.', 'from')
  }
  if (keep === 'replace' && times > 1)
    throw invalid("Only one run can take the run's place: leave `times` out.", 'times')
  if (keep === 'replace' && isTry(run))
    throw invalid('A run that only tries something has no place in the session.', 'keep')
  if (edit.input !== undefined && from !== undefined) {
    throw invalid('Another input changes everything after it: leave `from` out.', 'edit.input')
  }
  const hasModel = runnable.repeats === 'steps' && runnable.model !== undefined && runnable.model !== offline
  const misfit = modelEdits.find((key) => edit[key] !== undefined)
  if (misfit !== undefined && !hasModel) throw invalid(`${name} has no model of its own.`, `edit.${misfit}`)
  const problem = edit.model === undefined ? undefined : problemOfModel(edit.model)
  if (problem !== undefined) throw invalid(`'${edit.model}' is not a model: ${problem}.`, 'edit.model')
  if (edit.passages !== undefined && !runnable.knowledge) {
    throw invalid(`${name} uses no knowledge base.`, 'edit.passages')
  }
}

/** Throws `invalid_request` for an edit that needs another kind of event. */
export function checkPlan(plan: AgainPlan | undefined, edit: AgainEdit = {}): void {
  const at = plan?.start.at
  if (edit.messages !== undefined && at !== 'model_call') throw needs('messages', 'a model call', plan)
  if (edit.tool_output !== undefined && at !== 'tool_call') throw needs('tool_output', 'a tool call', plan)
  if (edit.passages !== undefined && plan !== undefined && plan.start.retrieval === undefined) {
    throw needs('passages', 'a retrieval', plan)
  }
}

function needs(key: string, what: string, plan: AgainPlan | undefined) {
  const where = plan === undefined ? 'Name one in `from`' : `Event ${plan.from} is none`
  return invalid(`\`${key}\` is for a run from ${what}. ${where}.`, `edit.${key}`)
}

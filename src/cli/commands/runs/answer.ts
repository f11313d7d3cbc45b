import type { ResumeRequest } from '../../../client/index.ts'
import type { Json } from '../../../core/json.ts'
import type { RunStatus, Waiting } from '../../../core/run.ts'
import { UsageError } from '../../command/exit.ts'
import { resumeHint, type WaitingRun, waitingLines } from '../../runs/waiting.ts'
import type { RunsOptions } from './action.ts'

type AnswerOptions = Pick<RunsOptions, 'approve' | 'deny' | 'input' | 'call'>
type Answer = Pick<ResumeRequest, 'approved' | 'input' | 'answers'>
type CallAnswer = NonNullable<Answer['answers']>[string]

/** The answer that the flags give. Throws UsageError for one that does not fit what the run waits for. */
export function readAnswer(run: WaitingRun & { status: RunStatus }, options: AnswerOptions): Answer {
  const { approve, deny, input, call } = options
  const given = [approve, deny, input, call].filter((one) => one !== undefined)
  if (given.length > 1) throw new UsageError('Use one of --approve, --deny, --input and --call.')
  const { waiting = [] } = run
  if (given.length === 0) {
    if (run.status === 'input_required') throw misfit(run, 'The run is waiting for an answer')
    return {}
  }
  if (call !== undefined) return { answers: Object.fromEntries(call.map((text) => answerToCall(text, run))) }
  if (new Set(waiting.map(({ kind }) => kind)).size > 1)
    throw misfit(run, 'The run is waiting for answers of several kinds')
  const [first] = waiting
  if (input === undefined) {
    if (first?.kind === 'tool') throw misfit(run, 'The run is waiting for the output of a tool, not for a decision')
    const reason = typeof deny === 'string' && deny !== '' ? { input: deny } : {}
    return { approved: approve === true, ...reason }
  }
  if (first?.kind === 'approval') throw misfit(run, 'The run is waiting for a decision')
  const value = parse('--input', input)
  if (first?.kind !== 'tool') return { input: value }
  if (waiting.length > 1) throw misfit(run, 'The run is waiting for the outputs of several calls')
  return { answers: { [first.call_id ?? '']: { output: value } } }
}

/** `<call_id>=<answer>`; an id may itself have a `=`. */
function answerToCall(text: string, run: WaitingRun): [string, CallAnswer] {
  const waits = (run.waiting ?? []).find(({ call_id: id }) => id !== undefined && text.startsWith(`${id}=`))
  const id = waits?.call_id
  if (waits === undefined || id === undefined) throw misfit(run, `--call '${text}' names no call that waits`)
  return [id, answerOfKind(waits, text.slice(id.length + 1))]
}

function answerOfKind({ kind, call_id: id }: Waiting, text: string): CallAnswer {
  const [, word, reason] = /^(approve|deny|error)(?::(.*))?$/s.exec(text) ?? []
  const because = reason === undefined ? {} : { reason }
  if (kind === 'approval') {
    if (word !== 'approve' && word !== 'deny')
      throw new UsageError(`--call ${id} must be followed by =approve, =deny or =deny:<reason>.`)
    return { approved: word === 'approve', ...because }
  }
  if (kind === 'tool') return word === 'error' ? { error: reason ?? '' } : { output: parse(`--call ${id}=`, text) }
  return { input: parse(`--call ${id}=`, text) }
}

function parse(flag: string, text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${flag} needs JSON. Write a text as '"text"'.`)
  }
}

function misfit(run: WaitingRun, problem: string): UsageError {
  return new UsageError([`${problem}:`, ...waitingLines(run).map((line) => `  ${line}`), resumeHint(run)].join('\n'))
}

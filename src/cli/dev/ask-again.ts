import type { Part } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import { diffAnswers } from '../../core/text/answer-diff.ts'
import type { OpenServer } from '../../server.ts'
import { describeError } from '../command/exit.ts'
import { saidIn } from '../terminal/message-text.ts'
import type { Paint } from '../terminal/paint.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import type { RunLines } from './run-lines.ts'

export interface AskAgain {
  /** Turns asking after each edit on or off; turning it on asks at once. */
  toggle(): void
  /** Call when a new config is served. */
  edited(): void
  ended(run: RunRecord): void
  close(): void
}

export interface AskAgainOptions {
  runs: OpenServer['services']['runs']
  lines: RunLines
  print: (text: string) => void
  paint: Paint
  on: boolean
}

interface Question {
  entityId: string
  parts: Part[]
  userId: string | undefined
  answer: string | undefined
}

const shownCharacters = 20_000

/** Asks the last question again in a new session and shows how the answer changed. */
export function createAskAgain({ runs, lines, print, paint, on: initially }: AskAgainOptions): AskAgain {
  let on = initially
  let last: Question | undefined
  let closed = false
  let asking: { runId?: string } | undefined
  const ownRuns = new Set<string>()

  async function ask(): Promise<void> {
    const mine: { runId?: string } = {}
    const earlier = asking
    asking = mine
    try {
      if (earlier?.runId !== undefined) await runs.cancel(earlier.runId, 'superseded').catch(() => {})
      last ??= await newestQuestion(runs)
      if (last === undefined) return print('There is no question to repeat yet.')
      if (asking !== mine) return
      await answer(last, mine)
    } catch (error) {
      print(describeError(error))
    } finally {
      if (asking === mine) asking = undefined
    }
  }

  async function answer(question: Question, mine: { runId?: string }): Promise<void> {
    const { entityId, parts, userId } = question
    print(`Asking ${terminalLine(entityId)} again: ${terminalLine(saidIn(parts)).slice(0, 200)}`)
    const handle = await runs.start({ entityId, parts, userId, unknownSession: 'refuse', mode: 'stream' })
    mine.runId = handle.runId
    ownRuns.add(handle.runId)
    const run = await handle.result()
    ownRuns.delete(handle.runId)
    if (asking !== mine || run.status !== 'completed') return
    const before = question.answer
    question.answer = answerOf(run)
    lines.after(() => print(formatAnswer(before, question.answer ?? '', paint)))
  }

  return {
    toggle() {
      on = !on
      if (on) void ask()
      else print('Stopped asking again.')
    },
    edited() {
      if (on && !closed) void ask()
    },
    ended(run) {
      if (run.parent_run_id !== null || ownRuns.has(run.run_id)) return
      last = toQuestion(run) ?? last
    },
    close() {
      closed = true
    },
  }
}

async function newestQuestion(runs: AskAgainOptions['runs']): Promise<Question | undefined> {
  const { items } = await runs.list({}, { limit: 20 })
  const newest = items.find(({ parent_run_id, status }) => parent_run_id === null && status !== 'queued')
  return newest === undefined ? undefined : toQuestion(await runs.get(newest.run_id))
}

function toQuestion(run: RunRecord): Question | undefined {
  const asked = run.messages[0]
  if (asked?.role !== 'user') return undefined
  const { entity_id: entityId, user_id } = run
  const answer = run.status === 'completed' ? answerOf(run) : undefined
  return { entityId, parts: asked.parts, userId: user_id ?? undefined, answer }
}

function answerOf({ messages }: RunRecord): string {
  return messages
    .slice(1)
    .map(({ parts }) => saidIn(parts))
    .join('\n')
}

/** The later answer with its changes: in colour, else as `[-gone-]` and `{+new+}`. */
function formatAnswer(before: string | undefined, after: string, paint: Paint): string {
  const indent = (text: string) => text.trimEnd().slice(0, shownCharacters).replace(/^/gm, '  ')
  if (before === undefined || before === '') return indent(terminalText(after))
  if (before === after) return `${indent(terminalText(after))}\n${paint.dim('  (the same answer as before)')}`
  const gone = (text: string) => (paint.coloured ? paint.red(paint.strikethrough(text)) : `[-${text}-]`)
  const added = (text: string) => (paint.coloured ? paint.green(text) : `{+${text}+}`)
  const stretches = diffAnswers(terminalText(before), terminalText(after))
  return indent(
    stretches.map(({ kind, text }) => (kind === 'same' ? text : kind === 'gone' ? gone(text) : added(text))).join(''),
  )
}

import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { RunSteps } from '../../core/steps/steps.ts'
import type { Run } from '../../wire/run.ts'
import type { Conversation } from '../state/conversation.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { GivenAnswer, Studio } from '../state/studio.ts'
import { Asking } from './asking.tsx'

interface WaitingProps {
  studio: Studio
  /** Without it, what is answered elsewhere meanwhile is told as an error. */
  conversation?: Conversation
  run: Run
  answer?: RunSteps | undefined
  /** The card goes, and the focus was in it. */
  onAnswered: () => void
}

/** What a paused run waits for, with a way to answer it. All that is open is answered at once. */
export function Waiting({ studio, conversation, run, answer, onAnswered }: WaitingProps): JSX.Element | null {
  const [answers, setAnswers] = useState<Readonly<Record<string, GivenAnswer>>>({})
  const { problem, isBusy: isSending, attempt } = useAttempt()
  const card = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: when it goes, and at no other time
  useLayoutEffect(
    () => () => {
      if (card.current?.contains(document.activeElement)) onAnswered()
    },
    [],
  )
  const { waiting, run_id: runId } = run
  const mayAnswer = studio.may('run')

  const give = (callId: string, given: GivenAnswer | undefined) => {
    const { [callId]: _before, ...others } = answers
    const all = given === undefined ? others : { ...others, [callId]: given }
    setAnswers(all)
    const open = waiting.filter(({ call_id = '' }) => all[call_id] === undefined)
    if (open.length > 0) {
      if (given !== undefined) focusOn(card.current, open[0]?.call_id ?? '')
      return
    }
    // What had the focus can't be used while it is sent.
    if (card.current?.contains(document.activeElement)) focusOn(card.current, callId)
    attempt(() =>
      studio.answer(runId, all).catch(async (error: unknown) => {
        setAnswers({})
        if (!(await conversation?.wasAnswered(run, error))) throw error
      }),
    )
  }

  return (
    <section class="waiting" aria-label="Waits for you" ref={card} aria-busy={isSending}>
      {waiting.map((asked) => {
        const { call_id = '' } = asked
        // What is too large for the run is in its event.
        const data = asked.data ?? answer?.exchanges.findLast((one) => one.asked.call_id === asked.call_id)?.asked.data
        return (
          <Asking
            key={call_id}
            keys={studio.keys}
            asked={asked}
            data={data}
            from={asked.child_run_id && studio.urlOf({ page: 'member', runId: asked.child_run_id })}
            given={answers[call_id]}
            mayAnswer={mayAnswer}
            isSending={isSending}
            onAnswer={(given) => give(call_id, given)}
          />
        )
      })}
      <p role="status">{isSending ? 'Sending…' : progressOf(waiting.length, Object.keys(answers).length)}</p>
      <p role="alert" class="wrong">
        {problem}
      </p>
    </section>
  )
}

function progressOf(asked: number, answered: number): string {
  return asked < 2 ? '' : `${answered} of ${asked} answered. They are sent together.`
}

function focusOn(card: HTMLElement | null, callId: string): void {
  card?.querySelector<HTMLElement>(`[data-call="${CSS.escape(callId)}"]`)?.focus()
}

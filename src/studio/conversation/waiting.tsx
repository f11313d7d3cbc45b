import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import type { Run } from '../../wire/run.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { messageOf } from '../state/message-of.ts'
import type { GivenAnswer, Studio } from '../state/studio.ts'

type Asked = Run['waiting'][number]

/** What a paused run waits for, with a way to answer it. All that is open is answered at once. */
export function Waiting({ studio, run }: { studio: Studio; run: Run }): JSX.Element | null {
  const [answers, setAnswers] = useState<Readonly<Record<string, GivenAnswer>>>({})
  const [said, setSaid] = useState('')
  const { waiting } = run
  if (run.status !== 'input_required' || waiting.length === 0) return null

  const answer = (asked: Asked, given: GivenAnswer) => {
    const all = { ...answers, [asked.call_id ?? '']: given }
    setAnswers(all)
    const open = waiting.filter(({ call_id }) => all[call_id ?? ''] === undefined)
    if (open.length > 0) return
    studio.answer(run.run_id, all).then(
      () => setSaid(''),
      (error: unknown) => {
        setAnswers({})
        setSaid(messageOf(error))
      },
    )
  }

  return (
    <section class="waiting" aria-label="Waits for you">
      {waiting.map((asked) => (
        <Asking
          key={asked.call_id ?? asked.prompt}
          asked={asked}
          given={answers[asked.call_id ?? '']}
          onAnswer={(given) => answer(asked, given)}
        />
      ))}
      <p role="status">{said}</p>
    </section>
  )
}

interface AskingProps {
  asked: Asked
  given: GivenAnswer | undefined
  onAnswer: (given: GivenAnswer) => void
}

function Asking({ asked, given, onAnswer }: AskingProps): JSX.Element {
  const { kind, tool, prompt, data } = asked
  return (
    <div class="asking">
      <p>
        <strong>{tool ?? prompt}</strong> {tool === undefined ? '' : prompt}
      </p>
      {data === undefined ? null : <JsonTree value={data} />}
      {given !== undefined ? (
        <p>Answered; more is open.</p>
      ) : kind === 'approval' ? (
        <Decision onAnswer={onAnswer} />
      ) : (
        <Input kind={kind} schema={asked.schema} onAnswer={onAnswer} />
      )}
    </div>
  )
}

function Decision({ onAnswer }: { onAnswer: AskingProps['onAnswer'] }): JSX.Element {
  const [reason, setReason] = useState('')
  const decide = (approved: boolean) => onAnswer(reason === '' ? { approved } : { approved, reason })
  return (
    <div class="bar">
      <button type="button" class="primary" onClick={() => decide(true)}>
        Allow
      </button>
      <button type="button" onClick={() => decide(false)}>
        Refuse
      </button>
      <label>
        <span class="hidden">Reason</span>
        <input
          placeholder="reason (optional)"
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
    </div>
  )
}

interface InputProps {
  kind: Asked['kind']
  schema: Asked['schema']
  onAnswer: AskingProps['onAnswer']
}

/** Text where text is asked for, else JSON, which the server checks against the schema. */
function Input({ kind, schema, onAnswer }: InputProps): JSX.Element {
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState('')
  const isText = schema === undefined || schema.type === 'string'
  const submit = (event: Event) => {
    event.preventDefault()
    const value = isText ? text : parse(text)
    if (value === undefined) {
      setWrong('This is not JSON.')
      return
    }
    onAnswer(kind === 'tool' ? { output: value } : { input: value })
  }
  return (
    <form class="bar" onSubmit={submit}>
      <label>
        {isText ? 'Your answer' : 'Your answer, as JSON'}
        <textarea rows={isText ? 1 : 4} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      {schema === undefined || isText ? null : (
        <details>
          <summary>What is asked for</summary>
          <JsonTree value={schema} />
        </details>
      )}
      <button type="submit" class="primary">
        Answer
      </button>
      <p role="alert">{wrong}</p>
    </form>
  )
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

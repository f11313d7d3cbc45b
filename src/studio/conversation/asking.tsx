import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Json } from '../../core/json.ts'
import type { Run } from '../../wire/run.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import type { Keys } from '../state/keys/keys.ts'
import type { GivenAnswer } from '../state/studio.ts'
import { inWords } from './given.ts'
import { InputForm } from './input-form.tsx'

export type Asked = Run['waiting'][number]

interface AskingProps {
  keys: Keys
  asked: Asked
  /** What it is about. */
  data: Json | undefined
  /** Where the run is that asks, if it is inside the one that waits. */
  from: string | undefined
  given: GivenAnswer | undefined
  mayAnswer: boolean
  isSending: boolean
  onAnswer: (given: GivenAnswer | undefined) => void
}

/** One request. It never takes the focus by itself. */
export function Asking({ keys, asked, data, from, given, mayAnswer, isSending, onAnswer }: AskingProps): JSX.Element {
  const card = useRef<HTMLFieldSetElement>(null)
  const { kind, tool, prompt, call_id = '' } = asked
  const isOpen = given === undefined && !isSending && mayAnswer
  return (
    <fieldset class="asking" ref={card} tabIndex={-1} data-call={call_id}>
      <legend dir="auto">
        <strong>{tool ?? prompt}</strong> {tool === undefined ? '' : prompt}
      </legend>
      {data === undefined ? null : <JsonTree value={data} />}
      {from === undefined ? null : (
        <p>
          <a href={from}>The conversation that asks</a>
        </p>
      )}
      {mayAnswer ? null : <p class="about">This key may not answer it.</p>}
      {given === undefined ? null : (
        <p class="bar">
          <span dir="auto">{inWords(given)}</span>
          <button type="button" disabled={isSending} onClick={() => onAnswer(undefined)}>
            Change
          </button>
        </p>
      )}
      {/* What was filled in stays while another request is answered. */}
      <div hidden={!isOpen}>
        {kind === 'approval' ? (
          <Decision keys={keys} within={() => (isOpen ? card.current : null)} onAnswer={onAnswer} />
        ) : (
          <InputForm kind={kind} schema={asked.schema} onAnswer={onAnswer} />
        )}
      </div>
    </fieldset>
  )
}

interface DecisionProps {
  keys: Keys
  within: () => Element | null
  onAnswer: (given: GivenAnswer) => void
}

function Decision({ keys, within, onAnswer }: DecisionProps): JSX.Element {
  const [isRefusing, setRefusing] = useState(false)
  const [reason, setReason] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const allow = () => onAnswer({ approved: true })
  const refuse = () => setRefusing(true)
  useEffect(() => keys.on({ allow, refuse }, within))
  useLayoutEffect(() => {
    if (isRefusing) field.current?.focus()
  }, [isRefusing])
  if (isRefusing) {
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const said = reason.trim()
          onAnswer(said === '' ? { approved: false } : { approved: false, reason: said })
        }}
      >
        <label>
          Reason (optional)
          <textarea
            ref={field}
            rows={2}
            maxLength={2000}
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </label>
        <div class="bar">
          <button type="submit" class="primary">
            Refuse
          </button>
          <button type="button" onClick={() => setRefusing(false)}>
            Back
          </button>
        </div>
      </form>
    )
  }
  return (
    <div class="bar">
      <button type="button" class="primary" aria-keyshortcuts="Shift+A" onClick={allow}>
        Allow
      </button>
      <button type="button" aria-keyshortcuts="Shift+R" onClick={refuse}>
        Refuse…
      </button>
      {keys.isOn.value ? (
        <span class="more" aria-hidden="true">
          <kbd>A</kbd> / <kbd>R</kbd>
        </span>
      ) : null}
    </div>
  )
}

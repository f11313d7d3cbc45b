import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { fieldOf } from '../../core/form/fields.ts'
import type { Json } from '../../core/json.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { messageOf } from '../state/server/message-of.ts'
import type { GivenAnswer } from '../state/studio.ts'
import type { Asked } from './asking.tsx'
import { filledIn } from './form-values.ts'
import { Fields } from './schema-fields.tsx'

interface InputProps {
  kind: Asked['kind']
  schema: Asked['schema']
  /** What it is a form for. */
  title?: string
  /** On the button. */
  verb?: string
  onAnswer: (given: GivenAnswer) => void
}

/** What the whole form is called. */
const path = 'answer'

/** A form for what the schema describes; JSON for what a form can't express; text where there is no schema. */
export function InputForm({ kind, schema, title = 'Your answer', verb = 'Answer', onAnswer }: InputProps): JSX.Element {
  const field = useMemo(() => (schema === undefined ? undefined : fieldOf(schema)), [schema])
  const [problem, setProblem] = useState('')
  /** What a browser does not check, the server does. Throws for what is no JSON and should be. */
  const valueIn = (data: FormData): Json => {
    if (field !== undefined) return filledIn(field, path, true, data) ?? null
    const text = String(data.get(path))
    if (schema === undefined && kind !== 'tool') return text
    try {
      return JSON.parse(text) as Json
    } catch (error) {
      // What a tool gave may also be text.
      if (schema === undefined) return text
      throw error
    }
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setProblem('')
    try {
      const value = valueIn(new FormData(event.currentTarget as HTMLFormElement))
      onAnswer(kind === 'tool' ? { output: value } : { input: value })
    } catch (error) {
      setProblem(`This is not JSON. ${messageOf(error)}`)
    }
  }
  return (
    <>
      <form onSubmit={submit}>
        {field !== undefined ? (
          <Fields field={field} name={title} path={path} isRequired />
        ) : (
          <label>
            {schema !== undefined ? `${title}, as JSON` : kind === 'tool' ? 'Its result, as JSON or text' : title}
            <textarea name={path} rows={schema === undefined ? 2 : 5} />
          </label>
        )}
        {schema === undefined || field !== undefined ? null : (
          <details>
            <summary>What is asked for</summary>
            <JsonTree value={schema} />
          </details>
        )}
        <button type="submit" class="primary">
          {verb}
        </button>
        <p role="alert" class="wrong">
          {problem}
        </p>
      </form>
      {kind === 'tool' ? <Failure onFail={(error) => onAnswer({ error })} /> : null}
    </>
  )
}

function Failure({ onFail }: { onFail: (error: string) => void }): JSX.Element {
  const [error, setError] = useState('')
  return (
    <details>
      <summary>It failed</summary>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault()
          onFail(error.trim() || 'The tool failed.')
        }}
      >
        <label>
          Why <input value={error} maxLength={2000} onInput={({ currentTarget }) => setError(currentTarget.value)} />
        </label>
        <button type="submit">Say that it failed</button>
      </form>
    </details>
  )
}

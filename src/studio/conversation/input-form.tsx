import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { type Field, fieldOf } from '../../core/form/fields.ts'
import type { Json } from '../../core/json.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { messageOf } from '../state/message-of.ts'
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

/** A form for what the schema describes; JSON for what a form can't express; text where there is no schema. */
export function InputForm({ kind, schema, title = 'Your answer', verb = 'Answer', onAnswer }: InputProps): JSX.Element {
  const field = useMemo(() => (schema === undefined ? undefined : fieldOf(schema)), [schema])
  const give = (value: Json) => onAnswer(kind === 'tool' ? { output: value } : { input: value })
  return (
    <>
      {field !== undefined ? (
        <SchemaForm field={field} title={title} verb={verb} onGive={give} />
      ) : (
        <WrittenForm kind={kind} schema={schema} title={title} verb={verb} onGive={give} />
      )}
      {kind === 'tool' ? <Failure onFail={(error) => onAnswer({ error })} /> : null}
    </>
  )
}

interface SchemaFormProps {
  field: Field
  title: string
  verb: string
  onGive: (value: Json) => void
}

/** What a browser does not check, the server does. */
function SchemaForm({ field, title, verb, onGive }: SchemaFormProps): JSX.Element {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onGive(filledIn(field, path, true, new FormData(event.currentTarget)) ?? null)
      }}
    >
      <Fields field={field} name={title} path={path} isRequired />
      <button type="submit" class="primary">
        {verb}
      </button>
    </form>
  )
}

/** What the whole form is called. */
const path = 'answer'

interface WrittenProps {
  kind: Asked['kind']
  schema: Asked['schema']
  title: string
  verb: string
  onGive: (value: Json) => void
}

function WrittenForm({ kind, schema, title, verb, onGive }: WrittenProps): JSX.Element {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    setProblem('')
    let value: Json = text
    try {
      if (schema !== undefined || kind === 'tool') value = JSON.parse(text) as Json
    } catch (error) {
      // What a tool gave may also be text.
      if (schema !== undefined) return setProblem(`This is not JSON. ${messageOf(error)}`)
    }
    onGive(value)
  }
  return (
    <form onSubmit={submit}>
      <label>
        {schema !== undefined ? `${title}, as JSON` : kind === 'tool' ? 'Its result, as JSON or text' : title}
        <textarea
          rows={schema === undefined ? 2 : 5}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      {schema === undefined ? null : (
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

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { type Field, fieldOf } from '../../core/form/fields.ts'
import type { Json } from '../../core/json.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import type { GivenAnswer } from '../state/studio.ts'
import type { Asked } from './asking.tsx'
import { filledIn } from './form-values.ts'
import { Fields, type Problems } from './schema-fields.tsx'

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

const noProblems: Problems = new Map()

function SchemaForm({ field, title, verb, onGive }: SchemaFormProps): JSX.Element {
  const [problems, setProblems] = useState(noProblems)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    // What a browser does not check, the server does.
    const wrong = [...form.querySelectorAll<HTMLInputElement>('.field > :invalid')]
    setProblems(new Map(wrong.map(({ id, validationMessage }) => [id, validationMessage])))
    if (wrong.length === 0) onGive(filledIn(field, path, true, new FormData(form)) ?? null)
  }
  return (
    <form onSubmit={submit} onInput={() => setProblems(noProblems)} noValidate>
      <Fields field={field} name={title} path={path} isRequired problems={problems} />
      <Submit verb={verb} problem={problems.size === 0 ? '' : aboutProblems(problems.size)} />
    </form>
  )
}

/** What the whole form is called. */
const path = 'answer'

function Submit({ verb, problem }: { verb: string; problem: string }): JSX.Element {
  return (
    <>
      <button type="submit" class="primary">
        {verb}
      </button>
      <p role="alert" class="wrong">
        {problem}
      </p>
    </>
  )
}

function aboutProblems(count: number): string {
  return count === 1 ? 'One field is not right yet.' : `${count} fields are not right yet.`
}

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
    try {
      onGive(schema === undefined ? textOrJson(kind, text) : (JSON.parse(text) as Json))
    } catch (error) {
      setProblem(`This is not JSON. ${error instanceof Error ? error.message : ''}`)
    }
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
      <Submit verb={verb} problem={problem} />
    </form>
  )
}

/** An input without a schema is text; what a tool gave may be anything. */
function textOrJson(kind: Asked['kind'], text: string): Json {
  if (kind !== 'tool') return text
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
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

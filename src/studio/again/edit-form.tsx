import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { toText } from '../../core/json.ts'
import type { AgainRequest } from '../../wire/again.ts'
import { whereOf } from '../parts/hits.tsx'
import { SearchFields } from '../parts/search-fields.tsx'
import { kindInWords, repeatable } from '../run/words.ts'
import { mostTries } from '../state/address/address.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import { useRead } from '../state/reading/use-read.ts'
import type { Studio } from '../state/studio.ts'
import { heed } from './asides.ts'
import { factsOf, hitsOf, resultOf } from './compare.ts'
import { requestOf, settings } from './edits.ts'
import { MessagesField } from './messages-field.tsx'

interface EditFormProps {
  studio: Studio
  opened: OpenedRun
  from: number | undefined
  isSending: boolean
  /** 0: from the beginning. */
  onFrom: (seq: number) => void
  /** What makes the request throws for a field that can't be read. */
  onStart: (requestOf: () => AgainRequest) => void
}

/** What is changed before it runs again. What is left as it is, is not sent. */
export function EditForm({ studio, opened, from, isSending, onFrom, onStart }: EditFormProps): JSX.Element {
  heed(opened)
  const { events, run } = opened
  const [times, setTimes] = useState(mostTries)
  const step = from === undefined ? undefined : events.steps.find(({ seq }) => seq >= from)
  const output = resultOf(events, step?.callId, step?.seq)?.output
  const said = run.value?.messages[0]
  const input = said?.content ?? ''
  const isText = said?.parts.every(({ type }) => type === 'text') === true
  const isSearch = from === undefined || step?.kind === 'search'
  const hits = isSearch ? [...hitsOf(events.all).values()] : []
  const { models } = factsOf(opened)
  const agentId = run.value?.entity_id
  // Without it, the field says that they are as they are.
  const { value: own = '' } = useRead(models && studio.can('config') ? agentId : undefined, async (signal) => {
    const { config } = await studio.client.agents.get(agentId ?? '', { include: 'config', signal })
    return config.instructions ?? ''
  })
  return (
    <form
      class="edits"
      onSubmit={(event) => {
        event.preventDefault()
        const form = new FormData(event.currentTarget, event.submitter)
        const passages = hits.map(({ chunk_id }) => chunk_id)
        onStart(() => requestOf(form, from, { input, instructions: own, output, passages }))
      }}
    >
      <label>
        From{' '}
        <select value={step?.seq ?? 0} onChange={({ currentTarget }) => onFrom(Number(currentTarget.value))}>
          <option value={0}>the beginning</option>
          {events.steps
            .filter(({ kind }) => repeatable.includes(kind))
            .map(({ seq, kind, label }) => (
              <option key={seq} value={seq}>
                {kindInWords(kind)} {label} ({seq})
              </option>
            ))}
        </select>
      </label>
      {isText ? (
        <label hidden={from !== undefined}>
          Input
          <textarea name="input" rows={3} dir="auto" defaultValue={input} />
        </label>
      ) : null}
      {step?.kind === 'tool' ? (
        <label key={from}>
          Output of the tool
          <textarea name="output" rows={3} dir="auto" defaultValue={toText(output)} />
        </label>
      ) : null}
      {step?.kind === 'model' && step.callId !== undefined && studio.can('prompts') ? (
        <MessagesField key={step.callId} studio={studio} runId={opened.runId} callId={step.callId} />
      ) : null}
      {models ? (
        <>
          <label>
            Instructions
            <textarea name="instructions" rows={3} dir="auto" placeholder="as they are" defaultValue={own} />
          </label>
          <label>
            Model <input name="model" placeholder={models} />
          </label>
          <details>
            <summary>Settings</summary>
            {settings.map((name) => (
              <label key={name}>
                {name} <input name={name} type="number" step="any" placeholder="as it is" />
              </label>
            ))}
          </details>
        </>
      ) : null}
      {hits.length > 0 ? (
        <fieldset key={from}>
          <legend>Passages</legend>
          <p class="about">A mode, a limit or filters search anew.</p>
          <SearchFields />
          {hits.map((hit) => (
            <label key={hit.chunk_id}>
              <input type="checkbox" name="passage" value={hit.chunk_id} defaultChecked /> {whereOf(hit)}
              {hit.told === false ? ' (not told)' : null}
            </label>
          ))}
        </fieldset>
      ) : null}
      <div class="bar">
        <label>
          Tools and steps after it{' '}
          <select name="after">
            <option value="ask">ask me before each</option>
            <option value="recorded">are answered from the record, others ask</option>
            <option value="live">run for real</option>
          </select>
        </label>
        <button type="submit" name="times" class="primary" value="1" disabled={isSending}>
          Run again
        </button>
        <button type="submit" name="times" value={times} disabled={isSending}>
          Again ×{times}
        </button>
        <label>
          Times{' '}
          <input
            class="short-field"
            type="number"
            min={2}
            max={mostTries}
            value={times}
            onInput={({ currentTarget }) => setTimes(currentTarget.valueAsNumber || mostTries)}
          />
        </label>
      </div>
    </form>
  )
}

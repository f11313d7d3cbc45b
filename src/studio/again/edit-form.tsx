import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { searchModes } from '../../core/knowledge/knowledge.ts'
import type { AgainRequest } from '../../wire/again.ts'
import { whereOf } from '../parts/hits.tsx'
import { kinds, repeatable } from '../run/words.ts'
import { mostTries } from '../state/address.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import type { Studio } from '../state/studio.ts'
import { heed } from './asides.ts'
import { passagePairs, toText } from './compare.ts'
import { type Fields, requestOf, settings } from './edits.ts'
import { MessagesField } from './messages-field.tsx'

interface EditFormProps {
  studio: Studio
  opened: OpenedRun
  from: number | undefined
  isSending: boolean
  /** 0: from the beginning. */
  onFrom: (seq: number) => void
  onStart: (request: AgainRequest) => void
}

/** What is changed before it runs again. What is left as it is, is not sent. */
export function EditForm({ studio, opened, from, isSending, onFrom, onStart }: EditFormProps): JSX.Element {
  heed(opened)
  const { events, run } = opened
  const [fields, setFields] = useState<Fields>({ after: 'ask', drop: [], settings: {} })
  const [problem, setProblem] = useState('')
  const [times, setTimes] = useState(mostTries)
  const step = from === undefined ? undefined : events.steps.steps.find(({ seq }) => seq >= from)
  const [result] = step === undefined ? [] : events.records.of(step).filter(({ type }) => type === 'tool_result')
  const output = result?.type === 'tool_result' ? result.output : undefined
  const said = run.value?.messages.find(({ role }) => role === 'user')
  const isText = said?.parts.every(({ type }) => type === 'text') === true
  const hits = passagePairs(events.all, []).flatMap(([hit]) => (hit === undefined ? [] : [hit]))
  const model = events.all.find((event) => event.type === 'model_call_start')
  const agentId = run.value?.entity_id
  const hasModel = model !== undefined
  const [own, setOwn] = useState('')
  useEffect(() => {
    if (!hasModel || agentId === undefined || studio.me.value?.can.config !== true) return
    studio.client.agents.get(agentId, { include: 'config' }).then(
      ({ config }) => setOwn(config.instructions ?? ''),
      () => {
        // The field says that they are as they are.
      },
    )
  }, [studio, agentId, hasModel])
  const put = (change: Partial<Fields>) => setFields({ ...fields, ...change })
  const area = (label: string, key: 'input' | 'instructions' | 'output', value: string, placeholder = '') => (
    <label>
      {label}
      <textarea
        rows={3}
        dir="auto"
        value={fields[key] ?? value}
        placeholder={placeholder}
        onInput={({ currentTarget }) => put({ [key]: currentTarget.value })}
      />
    </label>
  )
  return (
    <form
      class="edits"
      onSubmit={(event) => {
        event.preventDefault()
        try {
          setProblem('')
          const times = event.submitter instanceof HTMLButtonElement ? Number(event.submitter.value) : 1
          const before = {
            input: said?.content ?? '',
            instructions: own,
            output,
            isTool: step?.kind === 'tool',
            isCall: step?.kind === 'model',
          }
          onStart(requestOf(fields, from, before, times))
        } catch (error) {
          setProblem((error as Error).message)
        }
      }}
    >
      <label>
        From{' '}
        <select
          value={from === undefined ? 0 : (step?.seq ?? 0)}
          onChange={({ currentTarget }) => {
            const {
              output: _output,
              messages: _messages,
              limit: _limit,
              mode: _mode,
              filters: _filters,
              ...others
            } = fields
            setFields({ ...others, drop: [] })
            onFrom(Number(currentTarget.value))
          }}
        >
          <option value={0}>the beginning</option>
          {events.steps.steps
            .filter(({ kind }) => repeatable.includes(kind))
            .map(({ seq, kind, label }) => (
              <option key={seq} value={seq}>
                {kinds[kind][1]} {label} ({seq})
              </option>
            ))}
        </select>
      </label>
      {from === undefined && isText ? area('Input', 'input', said?.content ?? '') : null}
      {step?.kind === 'tool' ? area('Output of the tool', 'output', toText(output)) : null}
      {step?.kind === 'model' && step.callId !== undefined && studio.me.value?.can.prompts === true ? (
        <MessagesField
          key={step.callId}
          studio={studio}
          runId={opened.runId}
          callId={step.callId}
          text={fields.messages}
          onText={(messages) => setFields((now) => ({ ...now, messages }))}
        />
      ) : null}
      {model === undefined ? null : (
        <>
          {area('Instructions', 'instructions', own, 'as they are')}
          <label>
            Model{' '}
            <input
              value={fields.model ?? ''}
              placeholder={model.type === 'model_call_start' ? model.model : ''}
              onInput={({ currentTarget }) => put({ model: currentTarget.value })}
            />
          </label>
          <details>
            <summary>Settings</summary>
            {settings.map((name) => (
              <label key={name}>
                {name}{' '}
                <input
                  type="number"
                  step="any"
                  value={fields.settings[name] ?? ''}
                  placeholder="as it is"
                  onInput={({ currentTarget }) =>
                    put({ settings: { ...fields.settings, [name]: currentTarget.value } })
                  }
                />
              </label>
            ))}
          </details>
        </>
      )}
      {hits.length > 0 && (from === undefined || step?.kind === 'search') ? (
        <fieldset>
          <legend>Passages</legend>
          <label>
            Search anew, at most{' '}
            <input
              type="number"
              min={1}
              max={100}
              value={fields.limit ?? ''}
              placeholder="as it was"
              onInput={({ currentTarget }) => put({ limit: currentTarget.value })}
            />
          </label>
          <label>
            Mode{' '}
            <select value={fields.mode ?? ''} onChange={({ currentTarget }) => put({ mode: currentTarget.value })}>
              <option value="">as it was</option>
              {searchModes.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <label>
            Filters{' '}
            <input
              value={fields.filters ?? ''}
              placeholder="as they were, or as JSON"
              onInput={({ currentTarget }) => put({ filters: currentTarget.value })}
            />
          </label>
          {hits.map((hit) => (
            <label key={hit.chunk_id}>
              <input
                type="checkbox"
                checked={!fields.drop.includes(hit.chunk_id)}
                onChange={({ currentTarget }) =>
                  put({
                    drop: currentTarget.checked
                      ? fields.drop.filter((id) => id !== hit.chunk_id)
                      : [...fields.drop, hit.chunk_id],
                  })
                }
              />{' '}
              {whereOf(hit)}
            </label>
          ))}
        </fieldset>
      ) : null}
      <div class="bar">
        <label>
          Tools and steps after it{' '}
          <select
            value={fields.after}
            onChange={({ currentTarget }) => put({ after: currentTarget.value as Fields['after'] })}
          >
            <option value="ask">ask me before each</option>
            <option value="recorded">are answered from the record, others ask</option>
            <option value="live">run for real</option>
          </select>
        </label>
        <button type="submit" class="primary" value="1" disabled={isSending}>
          Run again
        </button>
        <button type="submit" value={times} disabled={isSending}>
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
            onInput={({ currentTarget }) => setTimes(Number(currentTarget.value) || mostTries)}
          />
        </label>
      </div>
      <p role="alert" class="wrong">
        {problem}
      </p>
    </form>
  )
}

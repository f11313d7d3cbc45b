import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { counted } from '../../core/text/format.ts'
import type { ProjectTests } from './project-tests.ts'
import { Rebuild } from './rebuild.tsx'

interface ControlsProps {
  project: ProjectTests
  /** The filters: `all`, or how a test has to have ended, and a text. */
  only: Signal<string>
  text: Signal<string>
  /** The tests that the filters leave, and which of them are chosen. */
  names: readonly string[]
  picked: readonly string[]
}

/** What is run, and how; what is shown; and how far the run is. */
export function Controls({ project, only, text, names, picked }: ControlsProps): JSX.Element {
  const [mode, setMode] = useState<'replay' | 'scores'>('replay')
  const [times, setTimes] = useState(1)
  const now = project.now.value
  const isRunning = now?.state === 'running'
  const run = (some: readonly string[]) => void project.run(some, { mode, times })
  const all = project.tests.value ?? []
  const isNarrowed = names.length < all.length
  return (
    <>
      <div class="bar">
        {isRunning ? (
          <button type="button" onClick={() => project.stop()}>
            Stop
          </button>
        ) : (
          <button type="button" class="primary" disabled={names.length === 0} onClick={() => run(names)}>
            {isNarrowed ? `Run the ${names.length} shown` : 'Run all'}
          </button>
        )}
        <button type="button" disabled={isRunning || picked.length === 0} onClick={() => run(picked)}>
          Run selected{picked.length > 0 ? ` (${picked.length})` : ''}
        </button>
        <label>
          Times{' '}
          <input
            class="short-field"
            type="number"
            min={1}
            max={10}
            value={times}
            onChange={({ currentTarget }) => setTimes(currentTarget.valueAsNumber || 1)}
          />
        </label>
        <label>
          Mode{' '}
          <select value={mode} onChange={({ currentTarget }) => setMode(currentTarget.value as typeof mode)}>
            <option value="replay">replay recorded answers</option>
            <option value="scores">score new answers</option>
          </select>
        </label>
        <Rebuild project={project} names={picked.length > 0 ? picked : names} />
      </div>
      {mode === 'scores' ? <p class="asks">Asks the models, which may cost money.</p> : null}
      <div class="bar">
        <label>
          Show{' '}
          <select
            value={only.value}
            onChange={({ currentTarget }) => {
              only.value = currentTarget.value
            }}
          >
            {['all', 'failed', 'flaky'].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          <span class="hidden">Tests with this text</span>
          <input
            type="search"
            placeholder="name or agent"
            value={text.value}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value
            }}
          />
        </label>
        {isRunning ? (
          <span class="more">
            {now.of.size} of {now.count}
          </span>
        ) : null}
        <span role="status">{isRunning ? 'Running…' : summaryOf(project)}</span>
        <span class="more">
          {isNarrowed ? `${names.length} of ` : ''}
          {counted(all.length, 'test')}
        </span>
      </div>
      <p role="alert" class="wrong">
        {project.error.value}
      </p>
    </>
  )
}

function summaryOf({ now: { value: now } }: ProjectTests): string {
  if (now === undefined) return ''
  const results = [...now.of.values()]
  const flaky = results.filter((result) => result.flaky).length
  const passed = results.filter((result) => result.passed).length
  const updated = results.filter((result) => result.updated).length
  return [
    now.state === 'stopped' ? `Stopped after ${results.length} of ${now.count}` : '',
    `${passed} passed`,
    `${results.length - passed - flaky} failed`,
    flaky > 0 ? `${flaky} flaky` : '',
    updated > 0 ? `${updated} rebuilt` : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

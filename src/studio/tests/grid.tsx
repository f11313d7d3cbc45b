import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ProjectTest } from '../../wire/saved-test.ts'
import { moveFocus } from '../parts/layout/list-focus.ts'
import { Moment } from '../parts/moment.tsx'
import type { Studio } from '../state/studio.ts'
import { Outcome } from './outcome.tsx'
import type { ProjectTests } from './project-tests.ts'

interface GridProps {
  studio: Studio
  project: ProjectTests
  rows: readonly ProjectTest[]
  chosen: Signal<ReadonlySet<string>>
  opened: string | undefined
}

const atOnce = 300

/** A row for each test, a column for each run, the newest first. `j`, `k` and arrows go from row to row. */
export function Grid({ studio, project, rows, chosen, opened }: GridProps): JSX.Element {
  const [most, setMost] = useState(atOnce)
  const now = project.now.value
  const { columns } = project
  /** Of the next older run of the same kind that played it. */
  const before = (name: string, column: number) =>
    columns
      .slice(column + 1)
      .find(({ mode, of }) => mode === columns[column]?.mode && of.has(name))
      ?.of.get(name)
  const choose = (names: readonly string[], isChosen: boolean) => {
    const others = [...chosen.value].filter((name) => !names.includes(name))
    chosen.value = new Set(isChosen ? [...others, ...names] : others)
  }
  const names = rows.map(({ name }) => name)
  if (rows.length === 0) return <p class="about">No test is as the filters say.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled to by keys
    <div class="wide tests-grid" role="group" aria-label="Results" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <label class="pick">
                <input
                  type="checkbox"
                  aria-label="Select all in the list"
                  checked={names.every((name) => chosen.value.has(name))}
                  onChange={({ currentTarget }) => choose(names, currentTarget.checked)}
                />
              </label>
            </th>
            <th scope="col">Test</th>
            {now === undefined ? null : <th scope="col">now{now.mode === 'scores' ? ' (scores)' : ''}</th>}
            {project.kept.value.map(({ at, mode, commit, changed }) => (
              <th scope="col" key={at}>
                <Moment at={at} /> {mode === 'scores' ? '(scores) ' : ''}
                {commit === null ? null : (
                  <span class="more id" title={changed ? 'with files that differed from it' : undefined}>
                    {commit.slice(0, 7)}
                    {changed ? '+' : ''}
                  </span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={(event) => moveFocus(event, 'a')}>
          {rows.slice(0, most).map(({ name, entity, problem }) => (
            <tr key={name} aria-current={name === opened ? 'true' : undefined}>
              <td>
                <label class="pick">
                  <input
                    type="checkbox"
                    aria-label={`Select ${name}`}
                    checked={chosen.value.has(name)}
                    onChange={({ currentTarget }) => choose([name], currentTarget.checked)}
                  />
                </label>
              </td>
              <th scope="row">
                <a class="row-link" dir="auto" href={studio.urlOf({ page: 'tests', name })}>
                  {name}
                </a>
                <span class="more" dir="auto">
                  {problem === null ? entity : "can't be played"}
                </span>
              </th>
              {columns.map(({ of }, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a column has nothing but its place
                <td key={column}>
                  <Outcome result={of.get(name)} before={before(name, column)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most ? (
        <button type="button" class="quiet" onClick={() => setMost(most + atOnce)}>
          {rows.length - most} more
        </button>
      ) : null}
    </div>
  )
}

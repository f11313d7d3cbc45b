import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { toText } from '../../core/json.ts'
import { counted, formatMs, formatScore } from '../../core/text/format.ts'
import { Diff } from '../parts/diff.tsx'
import { useFocusOfHidden } from '../parts/take-focus.ts'
import type { Studio } from '../state/studio.ts'
import { outcomeOf } from './outcome.tsx'
import type { ProjectTests, TestResult } from './project-tests.ts'
import { Rebuild } from './rebuild.tsx'

interface OpenedProps {
  studio: Studio
  project: ProjectTests
  name: string
}

/** One test: how it differs from what was saved, word by word, and what each scorer said. */
export function OpenedTest({ studio, project, name }: OpenedProps): JSX.Element {
  const title = useRef<HTMLHeadingElement>(null)
  useFocusOfHidden(title)
  const test = project.tests.value?.find((one) => one.name === name)
  const now = project.now.value
  const result = now?.of.get(name)
  return (
    <section class="tests-side" aria-label={`Test ${name}`}>
      <header class="bar">
        <a class="back" href={studio.urlOf({ page: 'tests' })} aria-label="Back to all tests">
          ‹
        </a>
        <h3 ref={title} tabIndex={-1} dir="auto">
          {name}
        </h3>
        <a class="close" href={studio.urlOf({ page: 'tests' })}>
          Close
        </a>
      </header>
      {test === undefined ? (
        <p role="alert">There is no such test (any more).</p>
      ) : (
        <>
          <p class="more" dir="auto">
            {[test.entity, test.turns && counted(test.turns, 'turn')].filter(Boolean).join(' · ')}
          </p>
          <p class="failure" dir="auto">
            {test.problem}
          </p>
          <div class="bar">
            <button
              type="button"
              disabled={project.isRunning}
              onClick={() => void project.run([name], { mode: 'replay' })}
            >
              Run this test
            </button>
            <button
              type="button"
              disabled={project.isRunning}
              title="Asks the models, which may cost money."
              onClick={() => void project.run([name], { mode: 'scores' })}
            >
              Score new answers
            </button>
            <Rebuild project={project} names={[name]} />
          </div>
          {result === undefined ? <p class="about">Run it to see how it differs.</p> : <Details result={result} />}
        </>
      )}
    </section>
  )
}

function Details({ result }: { result: TestResult }): JSX.Element {
  const { differences, scores, notes, problem, updated, duration_ms } = result
  return (
    <>
      <p role="status">
        {outcomeOf(result)} · {formatMs(duration_ms)}
        {updated ? ' · rebuilt' : ''}
      </p>
      <p class="failure" dir="auto">
        {problem}
      </p>
      {differences.map(({ turn, what, expected, actual }, place) => {
        const title = `Turn ${turn}: ${what.replace('_', ' ')}`
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: differences have nothing but their place
          <section key={place} aria-label={title}>
            <h4>{title}</h4>
            <Diff before={toText(expected)} after={toText(actual)} />
          </section>
        )
      })}
      {scores.length === 0 ? null : (
        <div class="wide">
          <table>
            <thead>
              <tr>
                <th scope="col">Turn</th>
                <th scope="col">Scorer</th>
                <th scope="col">Score</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {scores.map(({ turn, scorer, score, passed, reason, problem: failed }) => (
                <tr key={`${turn} ${scorer}`}>
                  <td>{turn}</td>
                  <th scope="row" dir="auto">
                    {scorer}
                  </th>
                  <td class={passed ? undefined : 'failure'}>
                    {score === null ? '–' : formatScore(score)} {passed ? 'passed' : 'failed'}
                  </td>
                  <td dir="auto">{failed ?? reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ul>
        {notes.map((note) => (
          <li key={note} dir="auto">
            {note}
          </li>
        ))}
      </ul>
    </>
  )
}

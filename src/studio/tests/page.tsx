import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Studio } from '../state/studio.ts'
import { Controls } from './controls.tsx'
import { Grid } from './grid.tsx'
import { OpenedTest } from './opened-test.tsx'
import { outcomeOf } from './outcome.tsx'
import { type KeptResult, type ProjectTests, testsOf } from './project-tests.ts'

/** The saved conversations of the project as a grid: what each came to in the run of now and in the last ones. */
export function TestsPage({ studio }: { studio: Studio }): JSX.Element | null {
  const address = studio.address.value
  const project = testsOf(studio.client)
  const only = useSignal('all')
  const text = useSignal('')
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  useEffect(() => {
    void project.read()
  }, [project])
  if (address.page !== 'tests') return null
  const tests = project.tests.value
  if (tests === undefined)
    return project.error.value === '' ? (
      <p class="middle appears">Reading…</p>
    ) : (
      <p class="middle" role="alert">
        The tests could not be read: {project.error.value}
      </p>
    )
  if (tests.length === 0)
    return (
      <div class="middle">
        <h2>No tests</h2>
        <p>A saved conversation is a test: choose “Session…” above one, then “Save as test”.</p>
        <ConfigState studio={studio} />
      </div>
    )
  const rows = tests.filter(
    ({ name, entity }) =>
      `${name} ${entity ?? ''}`.toLowerCase().includes(text.value.toLowerCase()) &&
      (only.value === 'all' || outcomeOf(lastOf(project, name)).startsWith(only.value)),
  )
  const names = rows.map(({ name }) => name)
  const picked = names.filter((name) => chosen.value.has(name))
  return (
    <div class="tests" data-depth={address.name === undefined ? 'list' : 'test'}>
      <h2 class="hidden">Tests</h2>
      <div class="tests-main">
        <ConfigState studio={studio} />
        <Controls project={project} only={only} text={text} names={names} picked={picked} />
        <Grid studio={studio} project={project} rows={rows} chosen={chosen} opened={address.name} />
      </div>
      {address.name === undefined ? null : (
        <OpenedTest key={address.name} studio={studio} project={project} name={address.name} />
      )}
    </div>
  )
}

/** Under the banner with the file, the line and the excerpt: what that means for tests. */
function ConfigState({ studio }: { studio: Studio }): JSX.Element {
  const wasBroken = useRef(false)
  const isBroken = studio.trouble.value !== undefined
  wasBroken.current ||= isBroken
  return (
    <p role="status">
      {isBroken ? 'No test can run until the config is mended.' : wasBroken.current ? 'The config loads again.' : ''}
    </p>
  )
}

/** What it came to when it was played last. */
function lastOf({ columns }: ProjectTests, name: string): KeptResult | undefined {
  return columns.find(({ of }) => of.has(name))?.of.get(name)
}

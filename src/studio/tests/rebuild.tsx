import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ProjectTests } from './project-tests.ts'

/** Makes what the agents do now the expectation of these tests. Asks first. */
export function Rebuild({ project, names }: { project: ProjectTests; names: readonly string[] }): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  const yes = useRef<HTMLButtonElement>(null)
  // What was pressed is gone, and this is its answer.
  useLayoutEffect(() => {
    if (isAsking) yes.current?.focus()
  }, [isAsking])
  const count = names.length === 1 ? '1 file' : `${names.length} files`
  if (!isAsking)
    return (
      <button type="button" disabled={project.isRunning || names.length === 0} onClick={() => setAsking(true)}>
        Rebuild…
      </button>
    )
  return (
    <div role="group" aria-label="Rebuild" class="bar">
      <span>Write what the agents do now as what is expected into those of {count} that differ?</span>
      <button
        type="button"
        class="danger"
        ref={yes}
        onClick={() => {
          setAsking(false)
          void project.run(names, { update: true })
        }}
      >
        Rebuild
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        Keep them
      </button>
    </div>
  )
}

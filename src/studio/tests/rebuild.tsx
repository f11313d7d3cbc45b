import type { JSX } from 'preact'
import { counted } from '../../core/text/format.ts'
import { Confirm } from '../parts/confirm.tsx'
import type { ProjectTests } from './project-tests.ts'

/** Makes what the agents do now the expectation of these tests. Asks first. */
export function Rebuild({ project, names }: { project: ProjectTests; names: readonly string[] }): JSX.Element {
  return (
    <Confirm
      verb="Rebuild"
      disabled={project.isRunning || names.length === 0}
      onConfirm={() => void project.run(names, { update: true })}
    >
      Write what the agents do now as what is expected into those of {counted(names.length, 'file')} that differ?
    </Confirm>
  )
}

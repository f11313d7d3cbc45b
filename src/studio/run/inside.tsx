import type { JSX } from 'preact'
import type { Step } from '../../core/steps/step.ts'
import type { Studio } from '../state/studio.ts'

interface InsideProps {
  studio: Studio
  step: Step
  /** The run that the step belongs to, if it is inside the one that is shown. */
  around: string | undefined
  urlOf: (runId: string) => string
}

/** Leads to the run that works inside the step, or around it: its steps, and what was said in it. */
export function Inside({ studio, step, around, urlOf }: InsideProps): JSX.Element | null {
  // A model that leads a team asks a member by a tool.
  const member = [step, ...(step.kind === 'tool' ? step.below : [])].find(({ childRunId }) => childRunId !== undefined)
  const talk = member?.childRunId ?? around
  if (talk === undefined) return null
  return (
    <p class="child">
      {member?.childRunId === undefined ? null : <a href={urlOf(member.childRunId)}>The run inside this step</a>}{' '}
      {studio.isFile ? null : (
        <a href={studio.urlOf({ page: 'member', runId: talk })}>
          {member === undefined ? 'The conversation around this step' : `The whole conversation of ${member.label}`}
        </a>
      )}
    </p>
  )
}

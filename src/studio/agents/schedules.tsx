import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Schedule } from '../../wire/schedule.ts'
import { Moment } from '../parts/moment.tsx'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'

/** When the agent runs by itself, and a button to run it now. Nothing without schedules, and for keys that may not run. */
export function Schedules({ studio, agentId }: { studio: Studio; agentId: string }): JSX.Element {
  const [all, setAll] = useState<readonly Schedule[]>([])
  const [told, setTold] = useState('')
  const { problem, attempt } = useAttempt()
  const { schedules } = studio.client
  const agents = studio.agents.value
  const mayRun = studio.may('run')
  const run = (name: string) =>
    attempt(async () => {
      setTold('')
      await schedules.run(name)
      setTold(`${name} has started.`)
    })
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a reload there are other schedules
  useEffect(() => {
    if (!mayRun) return
    attempt(async () => setAll((await schedules.list()).schedules))
  }, [agents, mayRun])
  return (
    <>
      {all.map(({ agent, name, cron, time_zone, next_at, enabled }) =>
        agent !== agentId ? null : (
          <p key={name} class="more">
            <button type="button" onClick={() => run(name)}>
              Run {name} now
            </button>{' '}
            {cron} {time_zone}, next: {next_at ? <Moment at={next_at} /> : enabled ? 'paused' : 'off'}
          </p>
        ),
      )}
      <p role="status">{problem || told}</p>
    </>
  )
}

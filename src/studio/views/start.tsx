import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Composer } from '../conversation/composer.tsx'
import type { Studio } from '../state/studio.ts'

/** Before a session is chosen: the agents, and a field to ask one. */
export function Start({ studio, agent }: { studio: Studio; agent: string | undefined }): JSX.Element {
  const agents = studio.agents.value
  const [chosen, setChosen] = useState(agent)
  const asked = agents.find(({ id }) => id === chosen) ?? agents[0]
  if (asked === undefined) {
    return (
      <div class="middle">
        <h2>No agents</h2>
        <p>
          Add one to <code>agent.config.ts</code> and save the file.
        </p>
      </div>
    )
  }
  return (
    <div class="middle">
      <h2>New chat</h2>
      <fieldset class="agents">
        <legend>Who is asked</legend>
        {agents.map(({ id, kind, description }) => (
          <label key={id} class="agent">
            <input type="radio" name="agent" checked={id === asked.id} onChange={() => setChosen(id)} />
            <strong>{id}</strong> <span class="more">{kind}</span>
            <span>{description}</span>
          </label>
        ))}
      </fieldset>
      <Composer label={asked.id} onSend={(text, files) => studio.begin(asked.id, text, files)} />
    </div>
  )
}

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Composer } from '../conversation/composer.tsx'
import type { AskedFor, Studio } from '../state/studio.ts'
import { lazyPart } from './lazy-part.ts'

const AboutAgent = lazyPart((later) => later.AboutAgent)

/** Before a session is chosen: the agents, and a field to ask one. */
export function Start({ studio, agent }: { studio: Studio; agent: string | undefined }): JSX.Element {
  const agents = studio.agents.value
  const [chosen, setChosen] = useState(agent)
  const [withForm, setWithForm] = useState<string>()
  const asked = agents.find(({ id }) => id === chosen) ?? agents[0]
  if (asked === undefined) {
    return (
      <div class="middle">
        <h2>No agents</h2>
        <p>
          Add one to <code>agent.config.ts</code>
          {studio.me.value?.mode === 'dev' ? ' and save the file: it is loaded at once.' : '.'}
        </p>
      </div>
    )
  }
  if (!studio.may('run')) {
    return (
      <div class="middle">
        <h2>Sessions</h2>
        <p>Choose one in the list. This key may look at runs, and start none.</p>
      </div>
    )
  }
  const ask = (input: AskedFor, files: readonly File[] = []) => studio.begin(asked.id, input, files)
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
      <AboutAgent key={asked.id} studio={studio} agent={asked} onAsk={ask} onForm={setWithForm} />
      <p class="more">
        or <a href={studio.urlOf({ page: 'file' })}>look at a session in a file</a>
      </p>
      {withForm === asked.id ? null : <Composer label={asked.id} onSend={ask} />}
    </div>
  )
}

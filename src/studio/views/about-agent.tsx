import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Agent, AgentConfig } from '../../wire/agent.ts'
import { messageOf } from '../state/message-of.ts'
import type { Studio } from '../state/studio.ts'

interface AboutAgentProps {
  studio: Studio
  agent: Agent
  onAsk: (text: string) => Promise<void>
}

/** Of an agent that is asked for the first time: who answers, where it is written, and what its documents can be asked. */
export function AboutAgent({ studio, agent, onAsk }: AboutAgentProps): JSX.Element {
  const me = studio.me.value
  const mayAsk = agent.knowledge && studio.may('knowledge:read')
  const [config, setConfig] = useState<AgentConfig>()
  const [question, setQuestion] = useState<string>()
  const [error, setError] = useState('')
  const ofConfig = me?.can.config === true
  useEffect(() => {
    let isShown = true
    const read = async () => {
      const config = ofConfig ? (await studio.client.agents.get(agent.id, { include: 'config' })).config : undefined
      if (isShown) setConfig(config)
      if (!mayAsk) return
      const title = await titleIn(studio, config?.knowledge?.collection ?? undefined)
      if (isShown && title !== undefined) setQuestion(`What does “${title}” say?`)
    }
    read().catch((failed: unknown) => {
      if (isShown) setError(messageOf(failed))
    })
    return () => {
      isShown = false
    }
  }, [studio, agent.id, mayAsk, ofConfig])

  const source = config?.source
  return (
    <>
      {agent.model === 'offline' ? (
        <p>
          No model is configured, so the offline model answers: it quotes your documents. One line in the config,{' '}
          <code>model: …</code>, changes that.
        </p>
      ) : null}
      {source === undefined || source === null ? null : (
        <p class="about">
          Defined in{' '}
          <code>
            {source.file}
            {source.line === null ? '' : `:${source.line}`}
          </code>
          {me?.mode === 'dev' ? '. Saving the file reloads the agents.' : '.'}
        </p>
      )}
      {question === undefined ? null : (
        <button
          type="button"
          class="suggested"
          onClick={() => {
            onAsk(question).catch((failed: unknown) => setError(messageOf(failed)))
          }}
        >
          {question}
        </button>
      )}
      <p role="alert" class="failure">
        {error}
      </p>
    </>
  )
}

/** Of the document that was added last, as it calls itself. */
async function titleIn({ client }: Studio, collection: string | undefined): Promise<string | undefined> {
  const { documents } = await client.knowledge.documents.list({ ...(collection && { collection }) }, { limit: 5 })
  const titles = documents.map(({ reader_metadata: { title } }) => title)
  return titles.find((title): title is string => typeof title === 'string' && title.trim() !== '')
}

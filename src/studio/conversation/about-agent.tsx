import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isJsonObject, type Json } from '../../core/json.ts'
import type { Agent } from '../../wire/agent.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import { useRead } from '../state/reading/use-read.ts'
import { messageOf } from '../state/server/message-of.ts'
import type { AskedFor, Studio } from '../state/studio.ts'
import { InputForm } from './input-form.tsx'

interface AboutAgentProps {
  studio: Studio
  agent: Agent
  onAsk: (input: AskedFor) => Promise<void>
  /** It takes no message, but what its form asks for. */
  onForm?: (agentId: string) => void
}

/** Of an agent that is asked for the first time: who answers, where it is written, and what its documents can be asked. */
export function AboutAgent({ studio, agent, onAsk, onForm }: AboutAgentProps): JSX.Element {
  const mayAsk = agent.knowledge && studio.may('knowledge:read')
  const [question, setQuestion] = useState<string>()
  const [error, setError] = useState('')
  const { problem, attempt } = useAttempt()
  const { value: config, error: failure } = useRead(studio.can('config') ? agent.id : undefined, async () => {
    const { config: read } = await studio.client.agents.get(agent.id, { include: 'config' })
    if (read.input_schema !== null) onForm?.(agent.id)
    return read
  })
  const collection = config?.knowledge?.collection ?? undefined
  useEffect(() => {
    if (!mayAsk || question !== undefined) return
    const read = () => {
      questionTo(studio, collection).then(
        (found) => {
          setQuestion(found)
          setError('')
        },
        (failed: unknown) => setError(messageOf(failed)),
      )
    }
    read()
    // The documents of a new project are still being read when its page is opened.
    return studio.listen((events) => {
      if (events.some(({ type }) => type === 'knowledge')) read()
    })
  }, [studio, mayAsk, collection, question])

  const source = config?.source
  const schema = config?.input_schema ?? undefined
  /** Who has no documents to ask about, and is asked by words. */
  const isTold = !mayAsk && agent.kind !== 'workflow' && schema === undefined
  const suggested = question ?? (isTold ? 'What can you do?' : undefined)
  const ask = (input: AskedFor) => attempt(() => onAsk(input))
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
          {studio.me.value?.mode === 'dev' ? '. Saving the file reloads the agents.' : '.'}
        </p>
      )}
      {suggested === undefined ? null : (
        <button type="button" class="suggested" onClick={() => ask(suggested)}>
          {suggested}
        </button>
      )}
      <p role="alert" class="failure">
        {problem || error || failure}
      </p>
      {schema === undefined ? null : (
        <InputForm
          kind="input"
          schema={schema}
          title={`Input of ${agent.id}`}
          verb="Run"
          onAnswer={({ input }) => ask(askedFor(input ?? null))}
        />
      )}
    </>
  )
}

/** The API takes text and objects as they are, and anything else as a part of a message. */
function askedFor(value: Json): AskedFor {
  return isJsonObject(value) || typeof value === 'string' ? value : { parts: [{ type: 'data', data: value }] }
}

/** To the document that was added last, of a section of it if it has one: a few words of its own, which any search finds. */
async function questionTo({ client }: Studio, collection: string | undefined): Promise<string | undefined> {
  const { documents } = await client.knowledge.documents.list({ collection: collection || undefined }, { limit: 5 })
  for (const { document_id: documentId, reader_metadata: about } of documents) {
    const { title } = about
    if (typeof title !== 'string' || title.trim() === '') continue
    const { chunks } = await client.knowledge.chunks(documentId, { limit: 5 })
    const section = chunks
      .map(({ metadata: { heading_path: path } }) => (Array.isArray(path) && path.length > 1 ? path.at(-1) : undefined))
      .find((heading) => typeof heading === 'string')
    return section === undefined ? `What does “${title}” say?` : `What does “${title}” say about “${section}”?`
  }
  return undefined
}

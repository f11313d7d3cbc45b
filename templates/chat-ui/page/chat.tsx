import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'
import { type FormEvent, useState } from 'react'

type Answer = (id: string, approved: boolean) => void

export function Chat({ id, api, saved }: { id: string; api: string; saved: UIMessage[] }) {
  const [text, setText] = useState('')
  const { messages, status, error, sendMessage, regenerate, stop, addToolApprovalResponse } = useChat({
    id,
    messages: saved,
    // Continues to show an answer that the agent was writing when the page was reloaded.
    resume: true,
    transport: new DefaultChatTransport({ api }),
    // An approval is sent when the last of the buttons has been pressed.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const busy = status === 'submitted' || status === 'streaming'

  function send(event: FormEvent) {
    event.preventDefault()
    if (text.trim() === '') return
    void sendMessage({ text })
    setText('')
  }

  async function stopRun() {
    // `stop` alone closes the stream, and the agent would go on.
    await fetch(`${api}/${encodeURIComponent(id)}/stop`, { method: 'POST' })
    await stop()
  }

  return (
    <main>
      <nav>
        <a href="?agent=docs">Ask the documents</a> · <a href="?agent=letter">Write a letter</a>
      </nav>
      {messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, place) => (
            <Part key={place} part={part} answer={(id, approved) => void addToolApprovalResponse({ id, approved })} />
          ))}
        </article>
      ))}
      {error !== undefined && (
        <p role="alert">
          {error.message}{' '}
          <button type="button" onClick={() => void regenerate()}>
            Try again
          </button>
        </p>
      )}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        <button type="button" disabled={!busy} onClick={() => void stopRun()}>
          Stop
        </button>
      </form>
      <p role="status">{status}</p>
    </main>
  )
}

type MessagePart = UIMessage['parts'][number]

/** React shows text as text: what a model or a document says never becomes markup. */
function Part({ part, answer }: { part: MessagePart; answer: Answer }) {
  if (part.type === 'text') return <p className="text">{part.text}</p>
  if (part.type === 'reasoning') return <details className="text">{part.text}</details>
  if (part.type === 'source-document') return <cite>{part.title} </cite>
  if (part.type === 'source-url') return <cite>{part.url} </cite>
  return isToolUIPart(part) ? <Tool part={part} answer={answer} /> : null
}

function Tool({ part, answer }: { part: Extract<MessagePart, { toolCallId: string }>; answer: Answer }) {
  return (
    <section>
      <strong>{getToolName(part)}</strong> {part.state}
      <pre>{JSON.stringify(part.input, null, 2)}</pre>
      {part.state === 'output-available' && <pre>{JSON.stringify(part.output, null, 2)}</pre>}
      {part.state === 'output-error' && <p role="alert">{part.errorText}</p>}
      {part.state === 'approval-requested' && (
        <p>
          <button type="button" onClick={() => answer(part.approval.id, true)}>
            Approve
          </button>{' '}
          <button type="button" onClick={() => answer(part.approval.id, false)}>
            Deny
          </button>
        </p>
      )}
    </section>
  )
}

import type { UIMessage } from 'ai'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'

const asked = new URLSearchParams(location.search)
const agent = asked.get('agent') ?? 'docs'
const id = asked.get('chat') ?? crypto.randomUUID()
// The address names the chat: a reload, and another browser with the same address, show it again.
history.replaceState(null, '', `?${new URLSearchParams({ agent, chat: id })}`)

const api = `/api/v1/chat/${encodeURIComponent(agent)}`
const root = createRoot(document.getElementById('root') as HTMLElement)

try {
  root.render(<Chat key={id} id={id} api={api} saved={await load()} />)
} catch (error) {
  root.render(<p role="alert">{String(error)}</p>)
}

/** The messages of the chat so far, except the one that the agent is still writing: `resume` brings that. */
async function load(): Promise<UIMessage[]> {
  const answer = await fetch(`${api}/${encodeURIComponent(id)}`)
  if (answer.status === 404) return []
  if (!answer.ok) throw new Error(await answer.text())
  const chat: { messages: UIMessage[] } = await answer.json()
  return chat.messages
}

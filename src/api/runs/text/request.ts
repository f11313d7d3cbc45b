import { isJsonObject, type Json } from '../../../core/json.ts'
import type { Part } from '../../../core/message.ts'
import type { RunDetail } from '../../../wire/run.ts'

/** What a run was asked, and where. */
export interface Asked {
  run: Pick<RunDetail, 'entity_id' | 'session_id' | 'parent_run_id' | 'messages'>
  /** How clients reach the server, such as `http://127.0.0.1:8080`. */
  address: string
  prefix: string
  /** The server asks for a key, which is never in the text. */
  needsKey: boolean
  /** It was not the first turn of its session. */
  isLater: boolean
}

const usualPrefix = '/api/v1'
const keyName = 'AGENTSERVE_API_KEY'

/** A command for `sh` that asks the same once more. */
export function toCurl(asked: Asked): string {
  const { run, address, prefix, needsKey } = asked
  const lines = [
    `curl ${quoted(`${address}${prefix}/agents/${encodeURIComponent(run.entity_id)}/run`)}`,
    `-H 'Content-Type: application/json'`,
    ...(needsKey ? [`-H "Authorization: Bearer $${keyName}"`] : []),
    `-d ${quoted(JSON.stringify(bodyOf(asked)))}`,
  ]
  return `${lines.join(' \\\n  ')}\n`
}

/** One argument of `sh`, whatever is in the text. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A program with agentserve/client that asks the same once more. */
export function toTypeScript(asked: Asked): string {
  const { run, address, prefix, needsKey } = asked
  const options = [
    `url: ${literal(address)}`,
    ...(prefix === usualPrefix ? [] : [`prefix: ${literal(prefix)}`]),
    ...(needsKey ? [`apiKey: process.env.${keyName}`] : []),
  ]
  return `import { createClient } from 'agentserve/client'

const client = createClient({ ${options.join(', ')} })
const { content } = await client.agents.run(${literal(run.entity_id)}, ${literal(bodyOf(asked))})
console.log(content)
await client.close()
`
}

/** A part of a page in React that talks to the same agent. */
export function toUseChat({ run, address, prefix, needsKey }: Asked): string {
  const api = `${address}${prefix}/chat/${encodeURIComponent(run.entity_id)}`
  const key = needsKey ? ` // and the key of the page's user: headers: { Authorization: 'Bearer …' }` : ''
  const imports = ["import { useChat } from '@ai-sdk/react'", "import { DefaultChatTransport } from 'ai'"]
  return `${imports.join('\n')}

const transport = new DefaultChatTransport({
  api: ${literal(api)},${key}
})

export function Chat() {
  const { messages, sendMessage, status, error } = useChat({ transport })
  return (
    <form action={(data) => void sendMessage({ text: String(data.get('text')) })}>
      {messages.map((message) => (
        <section key={message.id}>
          {message.role}: {message.parts.map((part) => (part.type === 'text' ? part.text : null))}
        </section>
      ))}
      <input name="text" aria-label="Message" defaultValue={${literal(textOf(run.messages))}} />
      <output>{error?.message ?? status}</output>
    </form>
  )
}
`
}

function bodyOf({ run, isLater }: Asked): { [key: string]: Json } {
  const parts = questionOf(run.messages)
  const [only] = parts
  const input: Json =
    parts.length === 1 && only?.type === 'text'
      ? only.text
      : parts.length === 1 && only?.type === 'data' && isPlainInput(only.data)
        ? only.data
        : { parts: parts.map(toInput) }
  return isLater ? { input, session_id: run.session_id } : { input }
}

function questionOf(messages: RunDetail['messages']): readonly Part[] {
  return messages.find(({ role }) => role === 'user')?.parts ?? []
}

function textOf(messages: RunDetail['messages']): string {
  return questionOf(messages)
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
}

/** As itself and not as parts. */
function isPlainInput(data: Json): boolean {
  return isJsonObject(data) && !('parts' in data)
}

/** What the server keeps of a file can't be sent again: its name stays in its place. */
function toInput(part: Part): Json {
  if (part.type !== 'file') return { ...part }
  const { type, media_type, name, url } = part
  const named = { type, media_type, ...(name !== undefined && { name }) }
  return url === undefined ? { ...named, data: 'THE-FILE-AS-BASE64' } : { ...named, url }
}

/** A value in a program. `__proto__` in a literal is no field. */
function literal(value: Json): string {
  const json = JSON.stringify(value, undefined, typeof value === 'object' ? 2 : undefined)
  return json.includes('"__proto__"') && typeof value === 'object' ? `JSON.parse(${JSON.stringify(json)})` : json
}

import type { ComponentChildren, JSX } from 'preact'
import { toHits } from '../../../core/again/passages.ts'
import type { Json } from '../../../core/json.ts'
import type { EventOf } from '../../../core/steps/step.ts'
import { LongText } from '../../parts/long-text.tsx'
import { useRead } from '../../state/reading/use-read.ts'
import type { RunEvents } from '../../state/run/events.ts'
import { hasStatus } from '../../state/server/message-of.ts'
import type { Studio } from '../../state/studio.ts'

type Retrieval = EventOf<'retrieval'>

interface PassageTextProps {
  studio: Studio
  runId: string
  events: RunEvents
  search: Retrieval
  hit: Retrieval['results'][number]
  /** The words of the search that are in the text. */
  onFound: (words: string[]) => void
}

interface Neighbour {
  chunk_id: string
  content: string
}
interface Text {
  content: string
  before: readonly Neighbour[]
  after: readonly Neighbour[]
  /** It is from the prompt. */
  why?: string
}

/** A passage as it is in the knowledge base now, with its neighbours; one that is gone, as the model was told it. */
export function PassageText(props: PassageTextProps): JSX.Element {
  const { studio, search, hit, onFound } = props
  const { words = [] } = search
  const { value: text, error } = useRead(hit.chunk_id, async (signal) => {
    const found = await read(props, signal)
    const lower = found.content.toLowerCase()
    onFound(words.filter((word) => lower.includes(word.toLowerCase())))
    return found
  })
  if (error !== undefined) return <p role="alert">{error}</p>
  if (text === undefined) return <p class="about appears">Reading…</p>
  const { document_id: documentId, chunk_id: chunkId } = hit
  return (
    <div class="passage">
      {text.why && <p class="about">{text.why} The model was told this:</p>}
      {text.before.map(neighbour)}
      <pre class="said" dir="auto">
        {text.content.length > longest ? <LongText text={text.content} /> : marked(text.content, words)}
      </pre>
      {text.after.map(neighbour)}
      {text.why === undefined && documentId && (
        <a href={studio.urlOf({ page: 'knowledge', query: {}, documentId, chunkId })}>in the knowledge base</a>
      )}
    </div>
  )
}

const longest = 20_000
const neighbours = 1

async function read(from: PassageTextProps, signal: AbortSignal): Promise<Text> {
  const { studio, hit } = from
  let why = 'Texts of passages are for keys with the scope knowledge:read.'
  if (studio.may('knowledge:read')) {
    try {
      return await studio.client.knowledge.chunk(hit.chunk_id, { context: neighbours, signal })
    } catch (error) {
      if (!hasStatus(error, 404)) throw error
      why = 'Its document was replaced or deleted.'
    }
  }
  if (hit.told === false) throw new Error(`${why} The model was not told it.`)
  if (!studio.can('prompts')) throw new Error(`${why} Prompts are for keys with the scope prompts.`)
  const content = await readInPrompt(from, signal)
  if (content === undefined) throw new Error(`${why} No prompt of the run has its text.`)
  return { content, before: [], after: [], why }
}

/** The passages of a search are in the prompt of the call after it. */
async function readInPrompt(
  { studio, runId, events, search, hit }: PassageTextProps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const call = events.calls.find(({ seq }) => seq > search.seq)
  const number = events.numberOf(hit.chunk_id, search)
  if (call?.callId === undefined || number === undefined) return undefined
  const { calls } = await studio.client.runs.trace(runId, { call: call.callId, signal })
  const source = { type: 'source' as const, index: number, document_id: '', chunk_id: hit.chunk_id, source: hit.source }
  return toHits([source], (calls[0]?.messages ?? null) as Json)[0]?.content
}

function neighbour({ chunk_id, content }: Neighbour): JSX.Element {
  return (
    <pre key={chunk_id} class="neighbour" dir="auto">
      <LongText text={content} cut={300} />
    </pre>
  )
}

/** The text with the words of the search marked, where they begin a word. */
function marked(text: string, words: readonly string[]): ComponentChildren {
  const known = words
    .filter((word) => word !== '')
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  if (known.length === 0) return text
  const pieces = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${known.join('|')})`, 'giu'))
  return pieces.map((piece, place) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have nothing but their place
    place % 2 === 1 ? <mark key={place}>{piece}</mark> : piece,
  )
}

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { toHits } from '../../../core/again/passages.ts'
import type { Json } from '../../../core/json.ts'
import { LongText } from '../../parts/long-text.tsx'
import { hasStatus, messageOf } from '../../state/message-of.ts'
import type { RunEvents } from '../../state/run/events.ts'
import type { EventOf } from '../../state/run/records.ts'
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
type Text =
  | { from: 'knowledge'; content: string; before: readonly Neighbour[]; after: readonly Neighbour[] }
  | { from: 'prompt'; content: string; why: string }
  | { from: 'nowhere'; why: string }

/** A passage as it is in the knowledge base now, with its neighbours; one that is gone, as the model was told it. */
export function PassageText({ studio, runId, events, search, hit, onFound }: PassageTextProps): JSX.Element {
  const [text, setText] = useState<Text>()
  const { words = [] } = search
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once; the rest is of the same passage
  useEffect(() => {
    const reading = new AbortController()
    read({ studio, runId, events, search, hit }, reading.signal).then(
      (found) => {
        if (reading.signal.aborted) return
        setText(found)
        if (found.from !== 'nowhere') onFound(wordsIn(found.content, words))
      },
      (error: unknown) => {
        if (!reading.signal.aborted) setText({ from: 'nowhere', why: messageOf(error) })
      },
    )
    return () => reading.abort()
  }, [hit.chunk_id])
  if (text === undefined) return <p class="about appears">Reading…</p>
  if (text.from === 'nowhere') return <p role="alert">{text.why}</p>
  const { document_id: documentId, chunk_id: chunkId } = hit
  return (
    <div class="passage">
      {text.from === 'prompt' ? (
        <p class="about">{text.why} The model was told this:</p>
      ) : (
        <Neighbours chunks={text.before} />
      )}
      <pre class="said" dir="auto">
        {text.content.length > longest ? <LongText text={text.content} /> : marked(text.content, words)}
      </pre>
      {text.from === 'knowledge' ? (
        <>
          <Neighbours chunks={text.after} />
          {documentId === undefined ? null : (
            <a href={studio.urlOf({ page: 'knowledge', query: {}, documentId, chunkId })}>in the knowledge base</a>
          )}
        </>
      ) : null}
    </div>
  )
}

const longest = 20_000
const neighbours = 1

async function read(from: Omit<PassageTextProps, 'onFound'>, signal: AbortSignal): Promise<Text> {
  const { studio, hit } = from
  const me = studio.me.value
  let why = 'Texts of passages are for keys with the scope knowledge:read.'
  if (me?.scopes.includes('knowledge:read') === true) {
    try {
      const chunk = await studio.client.knowledge.chunk(hit.chunk_id, { context: neighbours, signal })
      return { from: 'knowledge', content: chunk.content, before: chunk.before, after: chunk.after }
    } catch (error) {
      const isGone = hasStatus(error, 404)
      if (!isGone) throw error
      why = 'Its document was replaced or deleted.'
    }
  }
  if (hit.told === false) return { from: 'nowhere', why: `${why} The model was not told it.` }
  if (me?.can.prompts !== true) return { from: 'nowhere', why: `${why} Prompts are for keys with the scope prompts.` }
  const content = await readInPrompt(from, signal)
  if (content === undefined) return { from: 'nowhere', why: `${why} No prompt of the run has its text.` }
  return { from: 'prompt', content, why }
}

/** The passages of a search are in the prompt of the call after it. */
async function readInPrompt(
  { studio, runId, events, search, hit }: Omit<PassageTextProps, 'onFound'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const call = events.records.callAfter(search)
  const number = events.records.numberOf(hit.chunk_id, search)
  if (call === undefined || number === undefined) return undefined
  const { calls } = await studio.client.runs.trace(runId, { call: call.callId, signal })
  const source = { type: 'source' as const, index: number, document_id: '', chunk_id: hit.chunk_id, source: hit.source }
  return toHits([source], (calls[0]?.messages ?? null) as Json)[0]?.content
}

function Neighbours({ chunks }: { chunks: readonly Neighbour[] }): JSX.Element {
  return (
    <>
      {chunks.map(({ chunk_id, content }) => (
        <pre key={chunk_id} class="neighbour" dir="auto">
          <LongText text={content} cut={300} />
        </pre>
      ))}
    </>
  )
}

function wordsIn(text: string, words: readonly string[]): string[] {
  const lower = text.toLowerCase()
  return words.filter((word) => lower.includes(word.toLowerCase()))
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

import type { JSX } from 'preact'
import type { Part } from '../../core/message.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { Markdown } from '../parts/markdown.tsx'
import type { Studio } from '../state/studio.ts'
import { FileView } from './files/file.tsx'

interface PartsProps {
  studio: Studio
  sessionId: string
  parts: readonly Part[]
  /** More comes at the end. */
  growing?: boolean
}

/** What a message has in it, in order. */
export function Parts({ studio, sessionId, parts, growing = false }: PartsProps): JSX.Element {
  return (
    <>
      {parts.map((part, place) => {
        // biome-ignore-start lint/suspicious/noArrayIndexKey: parts are only added at the end
        if (part.type === 'text') {
          if (part.text === '') return null
          return <Markdown key={place} text={part.text} growing={growing && place === parts.length - 1} />
        }
        if (part.type === 'data') return <JsonTree key={place} value={part.data} />
        return <FileView key={place} studio={studio} sessionId={sessionId} part={part} />
        // biome-ignore-end lint/suspicious/noArrayIndexKey: parts are only added at the end
      })}
    </>
  )
}

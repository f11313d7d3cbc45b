import type { ComponentChildren, JSX } from 'preact'
import { useContext, useMemo } from 'preact/hooks'
import type { Part } from '../../core/message.ts'
import type { RunSteps } from '../../core/steps/steps.ts'
import { citedFirst, markCited } from '../../core/text/citations.ts'
import { whereOf } from '../parts/hits.tsx'
import { Citations } from '../parts/markdown.tsx'
import type { Address } from '../state/address/address.ts'
import type { Studio } from '../state/studio.ts'

interface CitingProps {
  studio: Studio
  address: Extract<Address, { page: 'chats' }>
  runId: string
  answer: RunSteps | undefined
  children: ComponentChildren
}

/** Below it, numbers in brackets lead to the passages that the run was given. */
export function Citing({ studio, address, runId, answer, children }: CitingProps): JSX.Element {
  const count = answer?.sources.length ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: sources are only added
  const cite = useMemo(() => {
    if (answer === undefined || count === 0) return undefined
    return (index: number) => {
      const source = answer.sources.find((one) => one.index === index)
      if (source === undefined) return undefined
      const to: Address = { ...address, runId, seq: answer.foundAt(source), inside: undefined, view: 'passages' }
      return { href: studio.urlOf(to), title: whereOf(source) }
    }
  }, [answer, count, address])
  return <Citations.Provider value={cite}>{children}</Citations.Provider>
}

/** The passages that the answer may cite, those that it cites first. */
export function Sources({ answer, parts }: { answer: RunSteps; parts: readonly Part[] }): JSX.Element | null {
  const cite = useContext(Citations)
  return answer.sources.length === 0 ? null : (
    <ul class="sources" aria-label="Sources">
      {citedFirst(markCited(answer.sources, parts)).map((source) => (
        <li key={source.index} class={source.cited ? 'cited' : undefined}>
          <a href={cite?.(source.index)?.href ?? ''} dir="auto">
            [{source.index}] {whereOf(source)}
          </a>
        </li>
      ))}
    </ul>
  )
}

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { textOf } from '../../core/message.ts'
import type { Run } from '../../wire/run.ts'
import { statusMarks } from '../parts/status.tsx'
import { isUnderWay, type Turn } from '../state/conversation.ts'
import { repeatWhileSeen } from '../state/reading/while-seen.ts'

const everyMs = 2000
const longest = 600

/** How far it has been told. */
interface Told {
  runId: string
  status: Run['status']
  length: number
}

interface AnnouncerProps {
  /** The last one. */
  turn: Turn | undefined
  /** Its session was begun in this page: what is there is news. */
  isBegun: boolean
}

/** Tells a screen reader whole sentences of the answer that is written, every other second at most: no one hears single words. */
export function Announcer({ turn, isBegun }: AnnouncerProps): JSX.Element {
  const [said, setSaid] = useState('')
  const told = useRef<Told>({ runId: '', status: 'completed', length: 0 })
  const latest = useRef(turn)
  latest.current = turn
  const run = turn?.run
  // biome-ignore lint/correctness/useExhaustiveDependencies: what else changes of the run is told as text
  useEffect(() => {
    if (run === undefined) return
    const { run_id: runId, status } = run
    const before = told.current
    const isSame = before.runId === runId
    const goesOn = isSame && isUnderWay(before)
    const text = () => textOf(latest.current?.answer?.parts ?? [])
    if (!isUnderWay(run)) {
      told.current = { runId, status, length: 0 }
      // What was there before the page came is not news.
      if (before.runId === '' ? !isBegun : isSame && before.status === status) return
      const rest = goesOn ? text().slice(before.length).slice(-longest) : ''
      setSaid(`${rest} ${endOf(run)}`.trim())
      return
    }
    told.current = { runId, status, length: goesOn ? before.length : text().length }
    if (!goesOn) setSaid(`${run.entity_id} answers`)
    return repeatWhileSeen(() => {
      const sentences = wholeSentences.exec(text().slice(told.current.length))?.[0] ?? ''
      if (sentences === '') return
      told.current.length += sentences.length
      setSaid(sentences.slice(-longest))
    }, everyMs)
  }, [run?.run_id, run?.status, isBegun])
  return (
    <div class="hidden" role="log" aria-label="The answer as it is written">
      {said}
    </div>
  )
}

function endOf({ status, entity_id: entity, waiting: [asked], error }: Run): string {
  if (status === 'completed') return `${entity} has answered`
  const why = error?.message ?? asked?.tool ?? asked?.prompt
  return `${entity} ${statusMarks[status][1]}${why === undefined ? '' : `: ${why}`}`
}

/** Up to the end of the last whole sentence or line. */
const wholeSentences = /^.*([.!?…。]["')\]]?\s|\n)/s

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { textOf } from '../../core/message.ts'
import type { Run } from '../../wire/run.ts'
import { statusMarks } from '../parts/status.tsx'
import { isUnderWay, type Turn } from '../state/conversation.ts'
import { repeatWhileSeen } from '../state/while-seen.ts'

const everyMs = 2000
const longest = 600

/** How far it has been told. */
interface Told {
  runId: string
  status: Run['status'] | undefined
  length: number
  isWriting: boolean
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
  const told = useRef<Told>({ runId: '', status: undefined, length: 0, isWriting: false })
  const latest = useRef(turn)
  latest.current = turn
  const runId = turn?.run.run_id ?? ''
  const status = turn?.run.status
  useEffect(() => {
    if (status === undefined) return
    const before = told.current
    const isSame = before.runId === runId
    const text = () => textOf(latest.current?.answer?.parts ?? [])
    const run = latest.current?.run
    if (!isUnderWay({ status })) {
      told.current = { runId, status, length: 0, isWriting: false }
      // What was there before the page came is not news.
      if (before.runId === '' ? !isBegun : isSame && before.status === status) return
      const rest = isSame && before.isWriting ? text().slice(before.length).slice(-longest) : ''
      setSaid(`${rest} ${run === undefined ? '' : endOf(run)}`.trim())
      return
    }
    const goesOn = isSame && before.status !== undefined && isUnderWay({ status: before.status })
    told.current = goesOn ? { ...before, status } : { runId, status, length: text().length, isWriting: false }
    if (!goesOn) setSaid(`${run?.entity_id} answers`)
    return repeatWhileSeen(() => {
      const rest = text().slice(told.current.length)
      const end = sentencesIn(rest)
      if (end === 0) return
      told.current.length += end
      told.current.isWriting = true
      setSaid(rest.slice(0, end).slice(-longest))
    }, everyMs)
  }, [runId, status, isBegun])
  return (
    <div class="hidden" role="log" aria-label="The answer as it is written">
      {said}
    </div>
  )
}

function endOf({ status, entity_id: entity, waiting, error }: Run): string {
  if (status === 'input_required') {
    const [asked] = waiting
    const what = asked?.tool ?? asked?.prompt
    return `${entity} waits for you${what === undefined ? '' : `: ${what}`}`
  }
  if (status === 'completed') return `${entity} has answered`
  return `${entity} ${statusMarks[status][1]}${error === null ? '' : `: ${error.message}`}`
}

/** Up to the end of the last whole sentence or line. */
function sentencesIn(text: string): number {
  const ends = [...text.slice(-4 * longest).matchAll(/[.!?…。]["')\]]?\s|\n/g)]
  const last = ends.at(-1)
  return last === undefined ? 0 : Math.max(0, text.length - 4 * longest) + last.index + last[0].length
}

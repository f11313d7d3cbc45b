import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { textOf } from '../../core/message.ts'
import { isUnderWay, type Turn } from '../state/conversation.ts'

const everyMs = 2000
const longest = 600

/** Tells a screen reader whole sentences of the answer that is written, every other second at most: no one hears single words. */
export function Announcer({ turn }: { turn: Turn | undefined }): JSX.Element {
  const [said, setSaid] = useState('')
  const told = useRef({ runId: '', length: 0, isWriting: false })
  const latest = useRef(turn)
  latest.current = turn
  const runId = turn?.run.run_id ?? ''
  const underWay = turn !== undefined && isUnderWay(turn.run)
  useEffect(() => {
    const { current } = told
    const text = () => textOf(latest.current?.answer?.parts ?? [])
    const entity = latest.current?.run.entity_id ?? ''
    if (!underWay) {
      // What was there before the page came is not news.
      if (current.runId !== runId || runId === '') return
      setSaid(current.isWriting ? text().slice(current.length).slice(-longest) : `${entity} has answered`)
      current.runId = ''
      return
    }
    if (current.runId !== runId) {
      told.current = { runId, length: text().length, isWriting: false }
      setSaid(`${entity} answers`)
    }
    const timer = setInterval(() => {
      const rest = text().slice(told.current.length)
      const end = sentencesIn(rest)
      if (end === 0) return
      told.current.length += end
      told.current.isWriting = true
      setSaid(rest.slice(0, end).slice(-longest))
    }, everyMs)
    return () => clearInterval(timer)
  }, [runId, underWay])
  return (
    <div class="hidden" role="log" aria-label="The answer as it is written">
      {said}
    </div>
  )
}

/** Up to the end of the last whole sentence or line. */
function sentencesIn(text: string): number {
  const ends = [...text.slice(-4 * longest).matchAll(/[.!?…。]["')\]]?\s|\n/g)]
  const last = ends.at(-1)
  return last === undefined ? 0 : Math.max(0, text.length - 4 * longest) + last.index + last[0].length
}

import { useRef, useState } from 'preact/hooks'
import { messageOf } from '../server/message-of.ts'

interface Attempt {
  /** What went wrong the last time, or `''`. */
  problem: string
  isBusy: boolean
  /** Nothing while another one is under way. */
  attempt(action: () => Promise<unknown>): void
}

/** Something that a person asks for and that may fail, which is then said. What is asked for twice at a time is done once. */
export function useAttempt(): Attempt {
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const isUnderWay = useRef(false)
  const attempt = (action: () => Promise<unknown>) => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setProblem('')
    setBusy(true)
    action()
      .catch((error: unknown) => setProblem(messageOf(error)))
      .finally(() => {
        isUnderWay.current = false
        setBusy(false)
      })
  }
  return { problem, isBusy, attempt }
}

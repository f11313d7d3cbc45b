import { useState } from 'preact/hooks'
import { messageOf } from './message-of.ts'

interface Attempt {
  /** What went wrong the last time, or `''`. */
  problem: string
  isBusy: boolean
  attempt(action: () => Promise<unknown>): void
}

/** Something that a person asks for and that may fail, which is then said. */
export function useAttempt(): Attempt {
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const attempt = (action: () => Promise<unknown>) => {
    setProblem('')
    setBusy(true)
    action()
      .catch((error: unknown) => setProblem(messageOf(error)))
      .finally(() => setBusy(false))
  }
  return { problem, isBusy, attempt }
}

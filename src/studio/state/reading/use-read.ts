import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../server/message-of.ts'

interface Read<Value> {
  value?: Value
  /** Why it could not be read. */
  error?: string
}

/** Reads what has this key for as long as it is shown; nothing without one. What belongs to another key is not given. */
export function useRead<Value>(
  key: string | File | undefined,
  read: (signal: AbortSignal) => Promise<Value>,
): Partial<Read<Value>> {
  const [found, setFound] = useState<Read<Value> & { key?: string | File }>({})
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is read
  useEffect(() => {
    if (key === undefined) return
    const reading = new AbortController()
    const { signal } = reading
    read(signal).then(
      (value) => signal.aborted || setFound({ key, value }),
      (error: unknown) => signal.aborted || setFound({ key, error: messageOf(error) }),
    )
    return () => reading.abort()
  }, [key])
  return found.key === key ? found : {}
}

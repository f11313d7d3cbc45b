import { useEffect } from 'preact/hooks'
import type { LiveEvent } from '../../wire/live.ts'
import type { Studio } from './studio.ts'

interface Listener {
  receive(events: readonly LiveEvent[]): void
  close(): void
}

/** Tells it what changes as long as it is shown, then closes it. */
export function useListening(studio: Studio, listener: Listener): void {
  useEffect(() => {
    const unlisten = studio.listen((events) => listener.receive(events))
    return () => {
      unlisten()
      listener.close()
    }
  }, [studio, listener])
}

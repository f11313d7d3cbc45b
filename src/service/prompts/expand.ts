import type { RunEvent } from '../../core/event.ts'
import { mapBatches } from '../events/map-batches.ts'
import type { PromptReader } from './reader.ts'

type Batches = AsyncIterable<readonly RunEvent[]>

/** Events with full prompts. `earlier` gives all events of the run, because calls may refer to earlier calls. */
export function withPrompts(
  batches: Batches,
  open: () => Promise<PromptReader>,
  earlier: () => Promise<Batches>,
): Batches {
  let reader: PromptReader | undefined
  let fromStart: boolean | undefined

  async function expand(event: RunEvent): Promise<RunEvent> {
    fromStart ??= event.seq === 1
    if (event.type !== 'model_call_start') return event
    if (reader === undefined) {
      reader = await open()
      if (!fromStart) await readUntil(event.seq, await earlier(), reader)
    }
    return reader.expand(event)
  }

  return mapBatches(batches, async (batch) => {
    const events: RunEvent[] = []
    for (const event of batch) events.push(await expand(event))
    return events
  })
}

async function readUntil(seq: number, batches: Batches, reader: PromptReader): Promise<void> {
  for await (const events of batches) {
    for (const event of events) {
      if (event.seq >= seq) return
      if (event.type === 'model_call_start') await reader.read(event)
    }
  }
}

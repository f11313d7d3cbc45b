import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { encodeEvent } from '../../core/sse.ts'
import type { Frames } from '../../http/reply.ts'
import { mapBatches } from '../../service/events/map-batches.ts'
import type { LiveBatch, LiveItem } from '../../service/live/items.ts'
import type { Costs } from '../../service/services.ts'
import type { LiveEvent } from '../../wire/live.ts'
import { toHead, toRun } from '../runs/answer.ts'
import { toSentEvent } from '../runs/stream.ts'

export interface LiveFrameOptions {
  serverId: string
  hello: Extract<LiveEvent, { type: 'hello' }>
  knowledge: Pick<Knowledge, 'status'> | undefined
  prompts: boolean
  costs: Costs
}

/** The batches of one reader as server-sent events; the last frame of a batch has its id. */
export function toLiveFrames(batches: AsyncIterable<LiveBatch>, options: LiveFrameOptions): AsyncIterable<Frames> {
  return mapBatches(batches, async ({ id, items }) => {
    let frames = ''
    for (const [index, item] of items.entries()) {
      const isLast = index === items.length - 1
      if (isLast && id !== undefined) frames += `id: ${options.serverId}.${id}\n`
      frames += await encodeItem(item, options)
    }
    return frames
  })
}

/** Heads are encoded once for all readers. */
const encoded = new WeakMap<object, string>()

function encodeItem(item: LiveItem, options: LiveFrameOptions): string | Promise<string> {
  const { hello, knowledge, prompts, costs } = options
  switch (item.type) {
    case 'hello':
      return encode(hello)
    case 'session':
      return encodeOnce(item.head, () => ({ type: 'session', head: toHead(item.head, costs) }))
    case 'run':
      return encodeOnce(item.run, () => ({ type: 'run', run: toRun(item.run, costs) }))
    case 'run_event':
      return encode({ type: 'run_event', event: toSentEvent(item.event, prompts, costs) } as LiveEvent)
    case 'agents':
      return encode({ type: 'agents', ...item.agents })
    case 'knowledge':
      // A comment, where there is none any more.
      return knowledge?.status().then((status) => encode({ type: 'knowledge', status })) ?? ':\n\n'
    default:
      return encode(item)
  }
}

function encodeOnce(head: object, toEvent: () => LiveEvent): string {
  let frame = encoded.get(head)
  if (frame === undefined) {
    frame = encode(toEvent())
    encoded.set(head, frame)
  }
  return frame
}

function encode(event: LiveEvent): string {
  return encodeEvent({ event: event.type, data: event })
}

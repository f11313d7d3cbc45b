import type { SourceEvent } from '../../../core/event.ts'
import type { Retrieval } from '../../../core/knowledge/retrieval.ts'
import {
  annotationsOf,
  type FileSearchItem,
  type FunctionItem,
  type ImageItem,
  type ItemStatus,
  type MessageItem,
  type OutputItem,
  type OutputText,
  outputText,
  type ReasoningItem,
  type ResponseEvent,
} from './item.ts'
import { itemId } from './item-id.ts'

/** Text or reasoning that is being written. */
interface OpenBlock {
  kind: 'text' | 'reasoning'
  index: number
  id: string
  text: string
}

/** The items of a response, in the order in which they were added, with the events that tell of each. */
export class Output {
  readonly #runId: string
  readonly #items: OutputItem[] = []
  readonly #ids = new Set<string>()
  readonly #sources = new Map<number, SourceEvent>()
  #block: OpenBlock | undefined

  constructor(runId: string) {
    this.#runId = runId
  }

  /** With what is being written as it is. */
  items(): OutputItem[] {
    const items = [...this.#items]
    if (this.#block !== undefined) items[this.#block.index] = blockItem(this.#block, 'in_progress')
    return items
  }

  addSource(source: SourceEvent): void {
    this.#sources.set(source.index, source)
  }

  /** Clients find items by their ids, and a model may call two tools by one. */
  unique(id: string): string {
    let free = id
    for (let count = 2; this.#ids.has(free); count++) free = `${id}~${count}`
    return free
  }

  add(item: OutputItem): { index: number; event: ResponseEvent } {
    const index = this.#items.push(item) - 1
    this.#ids.add(item.id)
    return { index, event: { type: 'response.output_item.added', output_index: index, item } }
  }

  set(index: number, item: OutputItem): void {
    this.#items[index] = item
  }

  done(index: number, item: OutputItem): ResponseEvent {
    this.#items[index] = item
    return { type: 'response.output_item.done', output_index: index, item }
  }

  /** An item that is whole at once. */
  both(given: OutputItem): ResponseEvent[] {
    const item = { ...given, id: this.unique(given.id) }
    const { index, event } = this.add(item)
    return [event, this.done(index, item)]
  }

  openBlock(kind: OpenBlock['kind'], seq: number): ResponseEvent[] {
    const id = itemId(kind === 'text' ? 'msg' : 'rs', this.#runId, seq)
    const block: OpenBlock = { kind, index: this.#items.length, id, text: '' }
    const item = blockItem(block, 'in_progress')
    const { event } = this.add(item.type === 'message' ? { ...item, content: [] } : { ...item, summary: [] })
    this.#block = block
    const part = kind === 'text' ? outputText('') : { type: 'summary_text', text: '' }
    const type = kind === 'text' ? 'response.content_part.added' : 'response.reasoning_summary_part.added'
    return [event, { type, ...placeIn(block), part }]
  }

  /** More of what is being written. */
  delta(delta: string): ResponseEvent {
    const block = this.#opened()
    block.text += delta
    return block.kind === 'text'
      ? { type: 'response.output_text.delta', ...placeIn(block), delta, logprobs: [] }
      : { type: 'response.reasoning_summary_text.delta', ...placeIn(block), delta }
  }

  /** `isLast`: nothing comes after it that could cite a source. */
  closeBlock(status: 'completed' | 'incomplete', isLast: boolean): ResponseEvent[] {
    const block = this.#opened()
    this.#block = undefined
    const { kind, index, text } = block
    if (kind === 'text') return this.#closeText(block, annotationsOf(text, this.#sources, isLast), status)
    const item = blockItem(block, status)
    return [
      { type: 'response.reasoning_summary_text.done', ...placeIn(block), text },
      { type: 'response.reasoning_summary_part.done', ...placeIn(block), part: { type: 'summary_text', text } },
      this.done(index, item),
    ]
  }

  /** A message that is whole at once. */
  whole(seq: number, { text, annotations }: OutputText): ResponseEvent[] {
    const opened = this.openBlock('text', seq)
    const written = this.delta(text)
    const block = this.#opened()
    this.#block = undefined
    return [...opened, written, ...this.#closeText(block, annotations, 'completed')]
  }

  #closeText(
    block: OpenBlock,
    annotations: OutputText['annotations'],
    status: 'completed' | 'incomplete',
  ): ResponseEvent[] {
    const place = placeIn(block)
    const part = outputText(block.text, annotations)
    return [
      ...annotations.map(
        (annotation, annotation_index): ResponseEvent => ({
          type: 'response.output_text.annotation.added',
          ...place,
          annotation_index,
          annotation,
        }),
      ),
      { type: 'response.output_text.done', ...place, text: block.text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part },
      this.done(block.index, blockItem(block, status, part)),
    ]
  }

  search({ query, results }: Retrieval, seq: number): ResponseEvent[] {
    const begun: FileSearchItem = {
      id: itemId('fs', this.#runId, seq),
      type: 'file_search_call',
      status: 'in_progress',
      queries: [query],
      results: null,
    }
    const found = results.map(({ document_id, chunk_id, source, score }) => ({
      file_id: document_id ?? chunk_id,
      filename: source,
      score,
      text: '',
      attributes: {},
    }))
    const { index, event } = this.add(begun)
    const place = { output_index: index, item_id: begun.id }
    return [
      event,
      { type: 'response.file_search_call.in_progress', ...place },
      { type: 'response.file_search_call.searching', ...place },
      { type: 'response.file_search_call.completed', ...place },
      this.done(index, { ...begun, status: 'completed', results: found }),
    ]
  }

  /** `args`: JSON. */
  callOfCaller(callId: string, call_id: string, name: string, args: string): ResponseEvent[] {
    const id = this.unique(itemId('fc', this.#runId, callId))
    const item: FunctionItem = { id, type: 'function_call', call_id, name, arguments: args, status: 'completed' }
    const { index, event } = this.add({ ...item, arguments: '', status: 'in_progress' })
    const place = { output_index: index, item_id: id }
    return [
      event,
      { type: 'response.function_call_arguments.delta', ...place, delta: args },
      { type: 'response.function_call_arguments.done', ...place, name, arguments: args },
      this.done(index, item),
    ]
  }

  image(seq: number, result: string): ResponseEvent[] {
    const id = itemId('ig', this.#runId, seq)
    const begun: ImageItem = { id, type: 'image_generation_call', status: 'in_progress', result: null }
    const { index, event } = this.add(begun)
    const place = { output_index: index, item_id: id }
    return [
      event,
      { type: 'response.image_generation_call.in_progress', ...place },
      { type: 'response.image_generation_call.completed', ...place },
      this.done(index, { ...begun, status: 'completed', result }),
    ]
  }

  #opened(): OpenBlock {
    if (this.#block === undefined) throw new Error('no text or reasoning is open')
    return this.#block
  }
}

function placeIn({ kind, index, id }: OpenBlock) {
  return kind === 'text'
    ? { item_id: id, output_index: index, content_index: 0 }
    : { item_id: id, output_index: index, summary_index: 0 }
}

function blockItem(
  { kind, id, text }: OpenBlock,
  status: ItemStatus,
  part = outputText(text),
): MessageItem | ReasoningItem {
  return kind === 'text'
    ? { id, type: 'message', role: 'assistant', status, content: [part] }
    : { id, type: 'reasoning', status, summary: [{ type: 'summary_text', text }] }
}

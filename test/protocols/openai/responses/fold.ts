// biome-ignore lint/suspicious/noExplicitAny: events are looked into field by field
export type Any = any

/** The event types that `responses.stream()` of openai 6 and 7 knows and that we send; on any other it throws. */
const known = new Set(
  `created queued in_progress completed failed incomplete output_item.added output_item.done content_part.added content_part.done
  output_text.delta output_text.done output_text.annotation.added function_call_arguments.delta function_call_arguments.done
  mcp_call.in_progress mcp_call.completed mcp_call.failed mcp_call_arguments.delta mcp_call_arguments.done
  file_search_call.in_progress file_search_call.searching file_search_call.completed reasoning_summary_part.added
  reasoning_summary_part.done reasoning_summary_text.delta reasoning_summary_text.done image_generation_call.in_progress
  image_generation_call.completed`
    .split(/\s+/)
    .map((name) => `response.${name}`),
)

/** The events of a stream, without comments and its last line. */
export function eventsOf(stream: string): Any[] {
  return stream
    .split('\n\n')
    .filter((frame) => /^event: \S+\ndata: \{/.test(frame))
    .map((frame) => {
      const [, name, data] = /^event: (\S+)\ndata: (.*)$/s.exec(frame) ?? []
      const event = JSON.parse(data ?? '')
      if (event.type !== name) throw new Error(`${name} is told as ${event.type}`)
      return event
    })
}

/** A response as a strict client puts it together from the events of its stream. */
export class ResponseFold {
  response: Any
  isOver = false
  readonly #done = new Set<number>()
  #last = -1

  static of(events: readonly Any[]): ResponseFold {
    const fold = new ResponseFold()
    for (const event of events) fold.add(event)
    return fold
  }

  add(event: Any): void {
    if (!known.has(event.type)) throw new Error(`unhandled event ${event.type}`)
    if (this.isOver) throw new Error(`${event.type} after the end`)
    if (!(event.sequence_number > this.#last)) throw new Error(`${event.type} has the number ${event.sequence_number}`)
    this.#last = event.sequence_number
    if (this.response === undefined && event.type !== 'response.created') throw new Error(`begins with ${event.type}`)
    if (event.response !== undefined) this.#whole(event)
    else this.#part(structuredClone(event))
  }

  #whole({ type, response }: Any): void {
    if (type === 'response.completed' || type === 'response.failed' || type === 'response.incomplete') {
      this.isOver = true
      if (this.#done.size !== response.output.length) throw new Error('ended with unfinished items')
      // What was streamed is what the end says.
      if (JSON.stringify(this.response.output) !== JSON.stringify(response.output)) {
        throw new Error(`${JSON.stringify(this.response.output)} ended as ${JSON.stringify(response.output)}`)
      }
    }
    this.response = structuredClone(response)
  }

  #part(event: Any): void {
    const { output } = this.response
    const place = event.output_index
    if (event.type === 'response.output_item.added') {
      if (place !== output.length) throw new Error(`item ${place} is added after ${output.length}`)
      if (output.some(({ id }: Any) => id === event.item.id)) throw new Error(`the id ${event.item.id} comes twice`)
      output.push(event.item)
      return
    }
    const item = output[place]
    if (event.type === 'response.output_item.done') {
      if (item.id !== event.item.id || item.type !== event.item.type) throw new Error('another item is done')
      this.#done.add(place)
      output[place] = event.item
      return
    }
    if (item?.id !== event.item_id) throw new Error(`${event.type} is of another item`)
    if (this.#done.has(place)) throw new Error(`${event.type} after its item was done`)
    this.#detail(item, event)
  }

  #detail(item: Any, event: Any): void {
    const part = item.content?.[event.content_index] ?? item.summary?.[event.summary_index]
    switch (event.type.slice('response.'.length)) {
      case 'content_part.added':
        item.content.push(event.part)
        break
      case 'reasoning_summary_part.added':
        item.summary.push(event.part)
        break
      case 'output_text.delta':
      case 'reasoning_summary_text.delta':
        part.text += event.delta
        break
      case 'output_text.annotation.added':
        if (part.annotations.length !== event.annotation_index) throw new Error('an annotation is missing')
        part.annotations.push(event.annotation)
        break
      case 'output_text.done':
      case 'reasoning_summary_text.done':
        if (part.text !== event.text) throw new Error('the text was another one')
        break
      case 'content_part.done':
      case 'reasoning_summary_part.done':
        if (JSON.stringify(part) !== JSON.stringify(event.part)) throw new Error('the part was another one')
        break
      case 'mcp_call_arguments.delta':
      case 'function_call_arguments.delta':
        item.arguments += event.delta
        break
      case 'mcp_call_arguments.done':
      case 'function_call_arguments.done':
        item.arguments = event.arguments
        break
    }
  }
}

import type { ModelObject } from '../src/core/model.ts'

export type Model = Extract<ModelObject, { specificationVersion: 'v4' }>
type Streamed = Awaited<ReturnType<Model['doStream']>>
type Part = Streamed['stream'] extends ReadableStream<infer PART> ? PART : never

/** A model that answers at once from memory, with so many fragments. */
export function scriptedModel(fragments: number): Model {
  const usage = {
    inputTokens: { total: 5, noCache: 5, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: fragments, text: fragments, reasoning: undefined },
  }
  const parts: Part[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: 't' },
    ...Array.from({ length: fragments }, (): Part => ({ type: 'text-delta', id: 't', delta: 'word ' })),
    { type: 'text-end', id: 't' },
    { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'stop' } },
  ]
  const doStream = async () => ({
    stream: new ReadableStream<Part>({
      start(controller) {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      },
    }),
  })
  const doGenerate = () => Promise.reject(new Error('not used'))
  return { specificationVersion: 'v4', provider: 'scripted', modelId: 'm', supportedUrls: {}, doStream, doGenerate }
}

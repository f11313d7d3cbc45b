/**
 * Maps each batch of a stream, in order. Not an async generator: its `return()` would wait for the pending `next()`,
 * and a reader that leaves must be let go at once.
 */
export function mapBatches<T, U>(source: AsyncIterable<T>, map: (batch: T) => U | Promise<U>): AsyncIterable<U> {
  return {
    [Symbol.asyncIterator]() {
      const batches = source[Symbol.asyncIterator]()
      return {
        async next() {
          const { done, value } = await batches.next()
          if (done) return { done, value: undefined }
          const mapped = map(value)
          // Another await would delay each batch by a tick.
          return { done: false, value: mapped instanceof Promise ? await mapped : mapped }
        },
        async return() {
          await batches.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

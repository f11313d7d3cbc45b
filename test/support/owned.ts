/**
 * A promise that is awaited later. A test that fails before that ends with its own failure: what its end does to the
 * promise, such as a connection that closes, is no unhandled rejection. Who awaits it still gets the error.
 */
export function owned<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

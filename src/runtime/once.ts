/** Makes it with the first call and keeps it; after a failure the next call tries again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

export interface Openable {
  open(): Promise<void>
  close(): Promise<void>
}

/**
 * One of several users of what each of them opens and closes once. However often `open` is called, it opens once; after a
 * failure, the next call tries again. One that failed has told who opened, and has nothing to close.
 */
export function oneUse(shared: Openable): Openable {
  let opening: Promise<void> | undefined
  return {
    open() {
      if (opening) return opening
      const open: Promise<void> = shared.open().catch((error: unknown) => {
        if (opening === open) opening = undefined
        throw error
      })
      opening = open
      return open
    },
    async close() {
      const closing = opening
      opening = undefined
      const isOpen = await closing?.then(
        () => true,
        () => false,
      )
      if (isOpen) await shared.close()
    },
  }
}

/** One page of a keyset-paged list; `cursor` is what the page before said in `next`. */
export interface PageRequest {
  limit: number
  cursor?: string | undefined
}
export interface Page<T> {
  items: T[]
  /** Opaque; null at the end. */
  next: string | null
}

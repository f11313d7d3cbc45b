/** One page of a list; `cursor` is the previous page's `next`. */
export interface PageRequest {
  limit: number
  cursor?: string | undefined
}
export interface Page<T> {
  items: T[]
  /** Opaque; null at the end. */
  next: string | null
}

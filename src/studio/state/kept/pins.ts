import { signal } from '@preact/signals'

/** Each save of a file asks all of them again. */
export const mostPins = 10
const kept = 'agentserve.pins'

/** The turns that are asked again when a file is saved, until the tab is closed. */
export class Pins {
  readonly ids = signal<readonly string[]>((sessionStorage.getItem(kept) ?? '').split(',').filter((id) => id !== ''))
  /** One more was wanted than there is room for. */
  readonly isFull = signal(false)

  add(runId: string): void {
    const ids = this.ids.value
    if (ids.includes(runId)) return
    this.isFull.value = ids.length >= mostPins
    if (!this.isFull.value) this.#put([...ids, runId])
  }

  remove(runId: string): void {
    this.#put(this.ids.value.filter((id) => id !== runId))
  }

  clear(): void {
    this.#put([])
  }

  #put(ids: readonly string[]): void {
    this.ids.value = ids
    if (ids.length < mostPins) this.isFull.value = false
    sessionStorage.setItem(kept, ids.join())
  }
}

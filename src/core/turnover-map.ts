/**
 * A map for entries that come and go all the time, such as what is under way. The tables of a `Map` that it has outgrown
 * point at each other, and a collection of the young generation takes an old one for alive: everything that was in any of
 * them would stay until the next full collection. Here only keys and places are in tables. Keys must be primitive for that.
 * It has no order.
 */
export class TurnoverMap<Key extends string | number, Value> {
  readonly #places = new Map<Key, number>()
  readonly #keys: Key[] = []
  readonly #values: Value[] = []

  get size(): number {
    return this.#keys.length
  }

  has(key: Key): boolean {
    return this.#places.has(key)
  }

  get(key: Key): Value | undefined {
    const place = this.#places.get(key)
    return place === undefined ? undefined : this.#values[place]
  }

  set(key: Key, value: Value): void {
    const place = this.#places.get(key)
    if (place !== undefined) this.#values[place] = value
    else {
      this.#places.set(key, this.#keys.length)
      this.#keys.push(key)
      this.#values.push(value)
    }
  }

  /** Whether it was there. */
  delete(key: Key): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    this.#places.delete(key)
    const lastKey = this.#keys.pop() as Key
    const lastValue = this.#values.pop() as Value
    if (place < this.#keys.length) {
      this.#keys[place] = lastKey
      this.#values[place] = lastValue
      this.#places.set(lastKey, place)
    }
    return true
  }

  /** A copy: the map may be changed while it is walked. */
  values(): Value[] {
    return [...this.#values]
  }
}

import { signal } from '@preact/signals'
import { type KeyId, type KeyRow, keyGroups } from './key-table.ts'

/** `key` is the last one that was pressed. */
export type KeyHandlers = Partial<Record<KeyId, (key: string) => void>>

interface Registered {
  handlers: KeyHandlers
  /** They count only while the focus is in it. */
  within: (() => Node | null) | undefined
}

const pressed = 'button, a, summary'
const fields = 'textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=range])'
/** Those that may be held down: the others act once. */
const steps = new Set<KeyId | undefined>([
  'next',
  'previous',
  'rows',
  'next-step',
  'previous-step',
  'event-before',
  'event-after',
])
const sequenceMs = 1500
const kept = 'agentserve.keys'
const byKeys = new Map(
  Object.values<Record<string, KeyRow>>(keyGroups)
    .flatMap((rows) => Object.entries(rows))
    .flatMap(([id, [, ...keys]]) => keys.map((key) => [key, id as KeyId])),
)

/** Hears single keys outside of fields, unless a person turned them off, and calls who asked for them last. */
export class Keys {
  readonly isOn = signal(localStorage.getItem(kept) !== 'off')
  readonly #registered: Registered[] = []
  #before: { key: string; at: number } | undefined

  constructor() {
    document.addEventListener('keydown', (event) => this.#pressed(event))
  }

  turn(isOn: boolean): void {
    this.isOn.value = isOn
    localStorage.setItem(kept, isOn ? 'on' : 'off')
  }

  /** Until the function that it returns is called. */
  on(handlers: KeyHandlers, within?: () => Node | null): () => void {
    const registered = { handlers, within }
    this.#registered.push(registered)
    return () => {
      const place = this.#registered.indexOf(registered)
      if (place >= 0) this.#registered.splice(place, 1)
    }
  }

  #pressed(event: KeyboardEvent): void {
    // By its name, since a blank stands between keys that follow each other. It presses what has the focus.
    const key = event.key === ' ' ? 'Space' : event.key
    if (key === 'Space' && event.target instanceof Element && event.target.closest(pressed) !== null) return
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
    // Escape is no character: nobody types it, or says it to a computer that listens.
    if (key !== 'Escape' && (!this.isOn.value || isField(event.target))) return
    const before = this.#before
    this.#before = undefined
    const follows = before !== undefined && event.timeStamp - before.at < sequenceMs
    const id = (follows ? byKeys.get(`${before.key} ${key}`) : undefined) ?? byKeys.get(key)
    const handler = id === undefined ? undefined : this.#handlerOf(id)
    if (handler !== undefined) {
      event.preventDefault()
      if (!event.repeat || steps.has(id)) handler(key)
    } else if ([...byKeys.keys()].some((keys) => keys.startsWith(`${key} `)))
      this.#before = { key, at: event.timeStamp }
  }

  #handlerOf(id: KeyId): ((key: string) => void) | undefined {
    const focused = document.activeElement
    const registered = this.#registered.findLast(
      ({ handlers, within }) =>
        handlers[id] !== undefined && (within === undefined || within()?.contains(focused) === true),
    )
    return registered?.handlers[id]
  }
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches(fields)
}

import { signal } from '@preact/signals'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const kept = 'agentserve.theme'

/** Light or dark, as the system has it or as a person chose it for this browser. */
export class ThemeChoice {
  readonly value = signal<Theme>(themes.find((theme) => theme === localStorage.getItem(kept)) ?? 'system')

  constructor() {
    this.#show()
  }

  choose(theme: Theme): void {
    this.value.value = theme
    if (theme === 'system') localStorage.removeItem(kept)
    else localStorage.setItem(kept, theme)
    this.#show()
  }

  #show(): void {
    const { dataset } = document.documentElement
    if (this.value.value === 'system') delete dataset.theme
    else dataset.theme = this.value.value
  }
}

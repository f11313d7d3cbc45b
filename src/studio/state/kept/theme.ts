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
    localStorage.setItem(kept, theme)
    this.#show()
  }

  #show(): void {
    document.documentElement.dataset.theme = this.value.value
  }
}

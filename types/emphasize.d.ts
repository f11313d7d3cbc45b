/* What the terminal uses of emphasize. Its own types bring in highlight.js's, and with them all globals of the browser. */

export interface Emphasize {
  registered(language: string): boolean
  /** Throws for a language that is not registered. `sheet`: highlight.js class → style. */
  highlight(language: string, code: string, sheet: Record<string, (text: string) => string>): { value: string }
}

export const common: Readonly<Record<string, unknown>>
export function createEmphasize(grammars: Readonly<Record<string, unknown>>): Emphasize

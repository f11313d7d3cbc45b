import type { EditKey } from '../terminal/edit-line.ts'

/** The action of a key; undefined: the key does nothing here. */
export type Action =
  | { type: 'move'; by: number }
  | { type: 'page'; by: number }
  | { type: 'start' | 'end' | 'open' | 'back' | 'leave' | 'search' | 'delete' | 'chat' | 'help' }

export type BrowserKey = EditKey & {
  return: boolean
  escape: boolean
  pageUp: boolean
  pageDown: boolean
}

const letters: Record<string, Action> = {
  '\r': { type: 'open' },
  // Input that was typed before raw mode was on.
  '\n': { type: 'open' },
  j: { type: 'move', by: 1 },
  k: { type: 'move', by: -1 },
  ' ': { type: 'page', by: 1 },
  b: { type: 'page', by: -1 },
  g: { type: 'start' },
  G: { type: 'end' },
  l: { type: 'open' },
  h: { type: 'back' },
  q: { type: 'leave' },
  '/': { type: 'search' },
  d: { type: 'delete' },
  c: { type: 'chat' },
  '?': { type: 'help' },
}

export function actionOf(input: string, key: BrowserKey): Action | undefined {
  return actionOfKey(key) ?? (key.ctrl || key.meta ? undefined : letters[input])
}

function actionOfKey(key: BrowserKey): Action | undefined {
  if (key.upArrow) return { type: 'move', by: -1 }
  if (key.downArrow) return { type: 'move', by: 1 }
  if (key.pageUp) return { type: 'page', by: -1 }
  if (key.pageDown) return { type: 'page', by: 1 }
  if (key.home) return { type: 'start' }
  if (key.end) return { type: 'end' }
  if (key.return || key.rightArrow) return { type: 'open' }
  return key.escape || key.leftArrow || key.backspace ? { type: 'back' } : undefined
}

export const keyHelp: readonly (readonly [string, string])[] = [
  ['↑ ↓ j k', 'move'],
  ['PgUp PgDn, b Space', 'one page up, down'],
  ['Home End, g G', 'go to the start, the end'],
  ['Enter →', 'open the session'],
  ['Esc ←', 'go back; in the list, quit'],
  ['/', 'filter as you type: titles, agents, all that was said'],
  ['c', 'continue the session in chat'],
  ['d', 'delete the session, after a confirmation'],
  ['q Ctrl-C', 'quit'],
]

import { type Key, useInput, usePaste } from 'ink'
import { useRef, useState } from 'react'
import { editLine, emptyLine, insert, type Line } from '../../terminal/edit-line.ts'

export interface LineOptions {
  /** Input history, newest last. */
  typed: readonly string[]
  /** Takes a finished line; false keeps it in the input. */
  submit(text: string): boolean
  /** Ctrl-C; gets the text that it cleared. */
  cancel(cleared: string): void
  leave(): void
  /** Takes a key before the line does; true: the line does not get it. */
  intercept(input: string, key: Key): boolean
  /** A key may choose from what is offered; false: it has its usual meaning. */
  choose?: ((key: Key, text: string) => boolean) | undefined
  /** What Enter submits for the text. */
  standIn?: ((text: string) => string) | undefined
}

export function useLine({ typed, submit, cancel, leave, intercept, choose, standIn }: LineOptions): Line {
  const [shown, show] = useState(emptyLine)
  // Several keys may arrive before the next render.
  const now = useRef({ line: emptyLine, place: 0, draft: '' })
  const setLine = (line: Line) => {
    now.current.line = line
    show(line)
  }

  const finish = (present: Line) => {
    const text = standIn?.(present.text.trim()) ?? present.text.trim()
    if (text === '' || !submit(text)) return setLine(present)
    now.current.place = 0
    setLine(emptyLine)
  }
  const enter = (key: Pick<Key, 'shift' | 'meta'>) => {
    const { line } = now.current
    if (key.shift || key.meta) return setLine(insert(line, '\n'))
    const { text, cursor } = line
    if (text[cursor - 1] !== '\\') return finish(line)
    setLine(insert({ text: text.slice(0, cursor - 1) + text.slice(cursor), cursor: cursor - 1 }, '\n'))
  }
  const recall = (up: boolean) => {
    const { line, place, draft } = now.current
    const next = Math.max(0, Math.min(typed.length, place + (up ? 1 : -1)))
    if (next === place) return
    if (place === 0) now.current.draft = line.text
    const text = next === 0 ? draft : (typed[typed.length - next] ?? '')
    now.current.place = next
    setLine({ text, cursor: text.length })
  }

  useInput((input, key) => {
    if (key.eventType === 'release' || intercept(input, key)) return
    const { line } = now.current
    if (key.ctrl && input === 'c') {
      cancel(line.text.trim())
      now.current.place = 0
      return setLine(emptyLine)
    }
    if (key.ctrl && input === 'd' && line.text === '') return leave()
    if (choose?.(key, line.text) === true) return
    if (key.return) return enter(key)
    if (input === '\n' || (key.ctrl && input === 'j')) return setLine(insert(line, '\n'))
    // Keys typed ahead end with \n, because raw mode was not on yet.
    if (/^[^\r\n]+[\r\n]$/.test(input)) {
      now.current.line = insert(line, input.slice(0, -1))
      return enter(key)
    }
    const next = editLine(line, input, key)
    if ((key.upArrow || key.downArrow) && next === line) recall(key.upArrow)
    else setLine(next)
  })
  usePaste((text) => setLine(insert(now.current.line, text)))
  return shown
}

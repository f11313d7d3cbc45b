import { type Key, useInput, usePaste } from 'ink'
import { useEffect, useRef, useState } from 'react'
import { editLine, emptyLine, insert, type Line } from '../../terminal/edit-line.ts'
import { type Completer, complete, completed } from './complete.ts'
import { findBefore } from './search.ts'

export interface LineOptions {
  /** What was typed before, newest last. */
  typed: readonly string[]
  completer: Completer
  /** Whether a question is open. A draft from before it is put aside until it is answered. */
  asked: boolean
  /** Takes a finished line; false keeps it in the input. */
  submit(text: string): boolean
  /** Ctrl-C; gets the text that it cleared. */
  cancel(cleared: string): void
  /** Esc with nothing open in the line. */
  escape(): void
  leave(): void
  /** Up in an empty line: a text that was not sent yet. */
  takeBack(): string | undefined
  /** Takes a key before the line does; true: the line does not get it. */
  intercept(input: string, key: Key): boolean
  /** A key may choose from what is offered; false: it has its usual meaning. */
  choose?: ((key: Key, text: string) => boolean) | undefined
  /** What Enter submits for the text. */
  standIn?: ((text: string) => string) | undefined
}

export interface ShownLine extends Line {
  /** What Ctrl-R looks for. */
  search: string | undefined
  /** What the word before the cursor may become. */
  words: readonly string[]
}

interface Now extends ShownLine {
  /** How far back in what was typed; 0: the line itself. */
  place: number
  draft: string
}

const start: Now = { ...emptyLine, search: undefined, words: [], place: 0, draft: '' }

export function useLine(options: LineOptions): ShownLine {
  const { typed, completer, asked, submit, cancel, leave, takeBack, intercept, choose, standIn } = options
  const [shown, show] = useState<ShownLine>(start)
  // Several keys may arrive before the next render.
  const now = useRef(start)
  const set = (change: Partial<Now>) => {
    now.current = { ...now.current, words: [], ...change }
    show(now.current)
  }
  const aside = useRef('')
  useEffect(() => {
    const { text, search } = now.current
    const draft = search === undefined ? text : now.current.draft
    if (asked) aside.current = draft
    else if (text !== '' || aside.current === '') return
    now.current = asked ? start : { ...start, text: aside.current, cursor: aside.current.length }
    if (!asked) aside.current = ''
    show(now.current)
  }, [asked])
  const setLine = ({ text, cursor }: Line) => set({ text, cursor })

  const finish = (present: Line) => {
    const text = present.text.trim()
    if (submit(standIn?.(text) ?? text)) set(start)
    else setLine(present)
  }
  const enter = (key: Pick<Key, 'shift' | 'meta'>) => {
    const { text, cursor } = now.current
    if (key.shift || key.meta) return setLine(insert(now.current, '\n'))
    if (text[cursor - 1] !== '\\') return finish(now.current)
    setLine(insert({ text: text.slice(0, cursor - 1) + text.slice(cursor), cursor: cursor - 1 }, '\n'))
  }
  const recall = (up: boolean) => {
    const { text, place, draft } = now.current
    const back = up && text === '' && place === 0 ? takeBack() : undefined
    if (back !== undefined) return set({ text: back, cursor: back.length })
    const next = Math.max(0, Math.min(typed.length, place + (up ? 1 : -1)))
    if (next === place) return
    const recalled = next === 0 ? draft : (typed[typed.length - next] ?? '')
    set({ place: next, draft: place === 0 ? text : draft, text: recalled, cursor: recalled.length })
  }
  /** Looks for a text from `place` back; what is shown stays where there is none. */
  const search = (wanted: string, place: number) => {
    const found = findBefore(typed, wanted, place)
    const text = found === undefined ? now.current.text : (typed[typed.length - found] ?? '')
    set({ search: wanted, text, cursor: text.length, ...(found !== undefined && { place: found }) })
  }
  const endSearch = (keep: boolean) => {
    const { draft } = now.current
    if (keep) set({ search: undefined })
    else set({ search: undefined, text: draft, cursor: draft.length, place: 0 })
  }
  /** True: the key was for the search. */
  const searchKey = (input: string, key: Key): boolean => {
    const { search: wanted, place, text } = now.current
    const again = key.ctrl && input === 'r'
    if (wanted === undefined) {
      if (again) set({ search: '', draft: place === 0 ? text : now.current.draft, place: 0 })
      return again
    }
    if (again) search(wanted, place + 1)
    else if (key.escape || (key.ctrl && /^[cg]$/.test(input))) endSearch(false)
    else if (key.backspace || key.delete) search([...wanted].slice(0, -1).join(''), 1)
    else if (key.ctrl || key.meta || key.return || key.tab || input === '') {
      endSearch(true)
      // Enter and Tab only take what was found; other keys then do what they do.
      return key.return || key.tab
    } else search(wanted + input.replace(/\p{Cc}/gu, ''), 1)
    return true
  }
  const completeWord = async () => {
    const line = now.current
    const completion = await complete(line, completer).catch(() => undefined)
    if (completion === undefined || now.current.text !== line.text || now.current.cursor !== line.cursor) return
    const next = completed(line, completion)
    set({ text: next.text, cursor: next.cursor, words: completion.words.length === 1 ? [] : completion.words })
  }

  const press = (input: string, key: Key) => {
    if (key.eventType === 'release' || intercept(input, key) || searchKey(input, key)) return
    const line: Line = { text: now.current.text, cursor: now.current.cursor }
    if (key.ctrl && input === 'c') {
      cancel(line.text.trim())
      return set(start)
    }
    if (key.ctrl && input === 'd' && line.text === '') return leave()
    if (choose?.(key, line.text) === true) return
    if (key.escape) return now.current.words.length > 0 ? set({}) : options.escape()
    if (key.tab) return void completeWord()
    if (key.return) return enter(key)
    if (input === '\n' || (key.ctrl && input === 'j')) return setLine(insert(line, '\n'))
    // Keys typed ahead end with \n, because raw mode was not on yet.
    if (/^[^\r\n]+[\r\n]$/.test(input)) {
      setLine(insert(line, input.slice(0, -1)))
      return enter(key)
    }
    const next = editLine(line, input, key)
    if ((key.upArrow || key.downArrow) && next === line) recall(key.upArrow)
    else setLine(next)
  }
  useInput((input, key) => {
    for (const [one, its] of keysIn(input, key)) press(one, its)
  })
  usePaste((text) => {
    if (now.current.search !== undefined) endSearch(true)
    setLine(insert(now.current, text))
  })
  return shown
}

/** What was typed at once. A busy terminal gives keys such as Tab or Ctrl-U together with the text around them. */
function keysIn(input: string, key: Key): [input: string, key: Key][] {
  const pieces = input.match(controls) ?? []
  if (pieces.length < 2) return [[input, key]]
  return pieces.map((piece) => {
    if (piece === '\t') return ['', { ...key, tab: true }]
    const code = piece.charCodeAt(0)
    const isKey = piece.length === 1 && code > 0 && code < 27 && piece !== '\r' && piece !== '\n'
    return isKey ? [String.fromCharCode(code + 96), { ...key, ctrl: true }] : [piece, key]
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys that come with text.
const controls = /[\x01-\x09\x0b\x0c\x0e-\x1a]|[^\x01-\x09\x0b\x0c\x0e-\x1a]+/g

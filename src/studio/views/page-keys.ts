import { useEffect, useRef, useState } from 'preact/hooks'
import type { Address } from '../state/address/address.ts'
import { isUnderWay } from '../state/conversation.ts'
import type { Studio } from '../state/studio.ts'
import { arrive, isFocusLost, moveFocus, rememberFocus } from './columns.ts'
import { keepFocus } from './kept-focus.ts'

interface PageKeyOptions {
  onHelp: (isHelping: true) => void
  /** What had the focus before is gone. */
  takesFocus: boolean
}

const againMs = 1000

/** The keys of every page, and where the focus is after another one is shown. Gives what is to be told. */
export function usePageKeys(studio: Studio, address: Address, { onHelp, takesFocus }: PageKeyOptions): string {
  const [notice, setNotice] = useState('')
  const armed = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const before = useRef<Address | undefined>(undefined)

  useEffect(rememberFocus, [])
  useEffect(keepFocus, [])

  useEffect(() => {
    const isFirst = before.current === undefined && !takesFocus
    const isOther = before.current?.page !== address.page
    before.current = address
    if (isFirst) return
    if (address.page === 'chats' && address.isNew === true) focusField()
    else if (isOther || isFocusLost()) arrive()
  }, [address, takesFocus])

  useEffect(() => {
    /** Says it for as long as it holds. */
    const tell = (text: string) => {
      clearTimeout(armed.current)
      setNotice(text)
      armed.current = setTimeout(() => {
        armed.current = undefined
        setNotice('')
      }, againMs)
    }
    const close = () => {
      const working = studio.chats.conversation.value?.turns.value.findLast(({ run }) => isUnderWay(run))
      const isShown = studio.address.value.page === 'chats'
      if (working !== undefined && isShown && armed.current !== undefined) {
        tell('Stopping the run…')
        void studio.stop(working.run.run_id)
        return
      }
      closeOne(studio)
      if (working !== undefined && isShown && studio.may('run')) tell('Press Escape once more to stop the run.')
    }
    const handlers = {
      help: () => onHelp(true),
      search: () => studio.go({ page: 'search', text: '' }),
      chats: () => studio.go({ page: 'chats', filter: {} }),
      knowledge: () => studio.go({ page: 'knowledge', query: {} }),
      agents: () => studio.go({ page: 'agents' }),
      tests: () => studio.go({ page: 'tests' }),
      new: () => studio.go(studio.newChat),
      watch: () => {
        if (studio.canWatch) studio.watch()
      },
      left: () => {
        if (!moveFocus(-1)) closeOne(studio)
      },
      right: () => void moveFocus(1),
      close,
    }
    // A dialog has its own Escape, and what is behind it can't be reached.
    const off = studio.keys.on(handlers, () => (document.querySelector('dialog[open]') === null ? document : null))
    return () => {
      off()
      clearTimeout(armed.current)
    }
  }, [studio, onHelp])
  return notice
}

/** The innermost thing that is open: a run, a session on a narrow screen, or a page. */
function closeOne(studio: Studio): void {
  const address = studio.address.value
  if (['search', 'again', 'diff', 'member', 'watch'].includes(address.page)) studio.back()
  if (address.page === 'tests' && address.name !== undefined) studio.go({ page: 'tests' })
  if (address.page === 'file' && address.runId !== undefined) studio.go({ page: 'file' })
  if (address.page !== 'chats') return
  const { sessionId, runId, filter } = address
  if (runId !== undefined) studio.go({ page: 'chats', sessionId, filter })
  else if (document.querySelector('.shell > .sessions')?.checkVisibility() === false) {
    studio.go({ page: 'chats', filter })
  }
}

function focusField(): void {
  document.querySelector<HTMLElement>('.shell > .conversation textarea')?.focus()
}

import { Component, type ComponentChildren, type JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { formatBytes } from '../../core/text/format.ts'
import { Turns } from '../conversation/conversation.tsx'
import { safeName } from '../parts/format.ts'
import { RunView } from '../run/run.tsx'
import { droppedFile } from '../state/dropped-file.ts'
import { useRead } from '../state/reading/use-read.ts'
import type { Studio } from '../state/studio.ts'
import { type CopiedSession, readCopy } from './copied-session.ts'
import { Import } from './import.tsx'
import { chosenIn, lookingAt } from './looking.ts'

/** A session that was exported, read from its file in the page. */
export function FilePage({ studio }: { studio: Studio }): JSX.Element {
  const file = droppedFile.value
  const address = studio.address.value
  const runId = address.page === 'file' ? address.runId : undefined
  const picker = useRef<HTMLInputElement>(null)
  const { value: copy, error } = useRead(file, async () => file && readCopy(file))
  const name = file && `${safeName(file.name)}, ${formatBytes(file.size)}`
  return (
    <div class="file-page">
      <header class="bar">
        <h2 dir="auto">{copy?.session.name ?? 'A session in a file'}</h2>
        <bdi class="more">{name}</bdi>
        <button type="button" onClick={() => picker.current?.click()}>
          Open a file…
        </button>
        <input
          ref={picker}
          type="file"
          hidden
          aria-label="File to look at"
          accept=".jsonl"
          onChange={({ currentTarget }) => {
            droppedFile.value = currentTarget.files?.[0]
            currentTarget.value = ''
            studio.go({ page: 'file' }, true)
          }}
        />
        {file === undefined || copy?.problem !== '' ? null : (
          <Import studio={studio} file={file} copy={copy} runId={runId} />
        )}
        <p role="status" class="whole-line">
          {file === undefined
            ? 'Drop the export of a session here. It is read in this page; nothing is sent.'
            : copy?.problem
              ? `${copy.problem} What came before is shown. It can’t be imported.`
              : copy === undefined && error === undefined
                ? 'Reading…'
                : ''}
        </p>
        <p role="alert" class="wrong">
          {error && `${name} can’t be shown. ${error}`}
        </p>
      </header>
      {copy === undefined ? null : (
        <Guard key={copy}>
          <Looked studio={studio} copy={copy} />
        </Guard>
      )}
    </div>
  )
}

function Looked({ studio, copy }: { studio: Studio; copy: CopiedSession }): JSX.Element {
  const looking = useMemo(() => lookingAt(studio, copy), [studio, copy])
  const { chats } = looking
  const address = chosenIn(studio.address.value, copy)
  useLayoutEffect(() => {
    looking.address.value = address
    chats.show(address)
  })
  useEffect(() => () => chats.close(), [chats])
  const conversation = chats.conversation.value
  const opened = chats.opened.value
  return (
    <>
      <section class="conversation" aria-label="Session in the file">
        {conversation === undefined ? null : <Turns studio={looking} conversation={conversation} address={address} />}
      </section>
      {opened === undefined ? null : <RunView key={opened.runId} studio={looking} opened={opened} address={address} />}
    </>
  )
}

/** A file may have been made by anybody: what can't be drawn is said, and the page stays. */
class Guard extends Component<{ children: ComponentChildren }, { isBroken?: boolean }> {
  static override getDerivedStateFromError() {
    return { isBroken: true }
  }

  override render(): ComponentChildren {
    if (this.state.isBroken !== true) return this.props.children
    return <p role="alert">Something in this file can’t be shown.</p>
  }
}

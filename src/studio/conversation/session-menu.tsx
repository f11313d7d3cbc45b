import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { safeName } from '../parts/format.ts'
import { saveAs } from '../parts/save.ts'
import type { Conversation } from '../state/conversation.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'
import { Facts } from './facts.tsx'
import { Files } from './files/files.tsx'
import { SaveTest } from './save-test.tsx'

interface MenuProps {
  studio: Studio
  conversation: Conversation
  onClose: () => void
}

/** What can be done with a whole session. */
export function SessionMenu({ studio, conversation, onClose }: MenuProps): JSX.Element {
  const { sessionId } = conversation
  const address = studio.urlOf({ page: 'chats', sessionId, filter: {} })
  return (
    <Dialog title="Session" onClose={onClose}>
      <Rename conversation={conversation} />
      <p class="bar">
        <span class="id">{sessionId}</span> <CopyButton text={sessionId} label="Copy the session id" />
      </p>
      <p class="bar">
        <a href={address}>Link to the session</a> <CopyButton text={location.origin + address} label="Copy the link" />
      </p>
      <Export studio={studio} sessionId={sessionId} />
      <Files studio={studio} sessionId={sessionId} onClose={onClose} />
      <Facts studio={studio} sessionId={sessionId} />
      {studio.can('tests') ? <SaveTest studio={studio} sessionId={sessionId} /> : null}
      <Delete studio={studio} conversation={conversation} />
    </Dialog>
  )
}

function Rename({ conversation }: { conversation: Conversation }): JSX.Element {
  const [name, setName] = useState(conversation.named.value?.name ?? '')
  const [said, setSaid] = useState('')
  const { problem, attempt } = useAttempt()
  const rename = (event: Event) => {
    event.preventDefault()
    setSaid('')
    attempt(async () => {
      await conversation.rename(name.trim())
      setSaid('Saved.')
    })
  }
  return (
    <form onSubmit={rename}>
      <label>
        Name{' '}
        <input
          value={name}
          maxLength={1000}
          placeholder="the first message stands for it"
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>{' '}
      <button type="submit">Save</button>
      <p role="status">{said}</p>
      <p role="alert" class="wrong">
        {problem}
      </p>
    </form>
  )
}

function Export({ studio, sessionId }: { studio: Studio; sessionId: string }): JSX.Element {
  const [said, setSaid] = useState('')
  const { problem, isBusy, attempt } = useAttempt()
  const save = async () => {
    setSaid('')
    const lines: string[] = []
    for await (const line of await studio.client.sessions.export(sessionId)) lines.push(`${line}\n`)
    if (lines.at(-1)?.startsWith('{"type":"end"') !== true) throw new Error('The connection ended early. Try again.')
    const name = safeName(`${sessionId}.jsonl`)
    saveAs(name, new Blob(lines, { type: 'application/x-ndjson' }))
    setSaid(`Saved as ${name}.`)
  }
  return (
    <div class="bar">
      <button type="button" disabled={isBusy} onClick={() => attempt(save)}>
        Export
      </button>
      <span role="status">{isBusy ? 'Reading…' : said}</span>
      <span role="alert" class="wrong">
        {problem}
      </span>
    </div>
  )
}

function Delete({ studio, conversation }: Omit<MenuProps, 'onClose'>): JSX.Element {
  const { problem, attempt } = useAttempt()
  const remove = async () => {
    await studio.client.sessions.delete(conversation.sessionId)
    conversation.wasDeleted()
  }
  return (
    <Confirm verb="Delete" problem={problem} onConfirm={() => attempt(remove)}>
      Delete the session with its runs, messages and files? Runs under way are stopped.
    </Confirm>
  )
}

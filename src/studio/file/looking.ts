import { type Signal, signal } from '@preact/signals'
import type { Address } from '../state/address/address.ts'
import { Chats } from '../state/chats.ts'
import type { Studio } from '../state/studio.ts'
import { clientOf } from './client.ts'
import type { CopiedSession } from './copied-session.ts'

type Chosen = Extract<Address, { page: 'chats' }>

/** The studio as the views of a conversation and a run see it that are of a file: they read from it, change nothing and send nothing. */
export function lookingAt(studio: Studio, copy: CopiedSession): Studio {
  const client = clientOf(copy)
  const to = (address: Address): Address => (address.page === 'chats' ? { ...address, page: 'file' } : address)
  const address = signal<Address>(chosenIn(studio.address.peek(), copy))
  const me: Signal<unknown> = signal({ scopes: ['knowledge:read'], can: { prompts: true } })
  const own = {
    client,
    me,
    address,
    chats: new Chats(client, () => {}),
    isFile: true,
    go: (next: Address, replace?: boolean) => studio.go(to(next), replace),
    urlOf: (next: Address) => studio.urlOf(to(next)),
  }
  return Object.assign(Object.create(studio), own)
}

/** What the address of the page chooses in the file. */
export function chosenIn(address: Address, { session }: CopiedSession): Chosen {
  const place = address.page === 'file' ? address : {}
  return { ...place, page: 'chats', sessionId: session.session_id, filter: {} }
}

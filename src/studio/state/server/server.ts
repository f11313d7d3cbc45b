import { openPageClient, type PageClient } from '../../../client/page.ts'
import { createFetchTransport } from '../../../client/transport/transport.ts'

/** What the server wrote into the page, as its data. */
export type Places = {
  path: string
  prefix: string
  version: string
  /** What the server asks for: `API key`, `token`, or either. */
  credential: string
}

interface ClientSettings {
  key: string | undefined
  /** The server does not take the key, or wants one. */
  onRefused: () => void
  retries: number | undefined
}

export function openClient({ prefix }: Places, { key, onRefused, retries }: ClientSettings): PageClient {
  const transport = createFetchTransport('', async (input, init) => {
    const answer = await fetch(input, init)
    if (answer.status === 401) onRefused()
    return answer
  })
  return openPageClient(transport, 'the server', { prefix, apiKey: key, retries }).client
}

const keyName = 'agentserve.key'

/** The key is in the page's memory; a person may keep it until the tab is closed. Never longer. */
export const keptKey = {
  read: (): string | undefined => sessionStorage.getItem(keyName) ?? undefined,
  keep: (key: string): void => sessionStorage.setItem(keyName, key),
  forget: (): void => sessionStorage.removeItem(keyName),
}

import { type Client, clientOver } from '../../client/client.ts'
import { createFetchTransport } from '../../client/transport/transport.ts'

/** What the server wrote into the page. */
export interface Places {
  path: string
  prefix: string
  a2aPrefix: string
  healthPath: string
  version: string
}

export function readPlaces({ dataset }: HTMLElement): Places {
  const { path = '', prefix = '', a2aPrefix = '', healthPath = '', version = '' } = dataset
  return { path, prefix, a2aPrefix, healthPath, version }
}

interface ClientSettings {
  key: string | undefined
  /** The server does not take the key, or wants one. */
  onRefused: () => void
  retries: number | undefined
}

export function openClient(
  { prefix, a2aPrefix, healthPath }: Places,
  { key, onRefused, retries }: ClientSettings,
): Client {
  const transport = createFetchTransport('', async (input, init) => {
    const answer = await fetch(input, init)
    if (answer.status === 401) onRefused()
    return answer
  })
  return clientOver(transport, 'the server', { prefix, a2aPrefix, healthPath, apiKey: key, retries })
}

const keyName = 'agentserve.key'

/** The key is in the page's memory; a person may keep it until the tab is closed. Never longer. */
export const keptKey = {
  read: (): string | undefined => sessionStorage.getItem(keyName) ?? undefined,
  keep: (key: string): void => sessionStorage.setItem(keyName, key),
  forget: (): void => sessionStorage.removeItem(keyName),
}

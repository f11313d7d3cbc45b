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

export function openClient({ prefix, a2aPrefix, healthPath }: Places, key: string | undefined): Client {
  const transport = createFetchTransport('', (input, init) => fetch(input, init))
  return clientOver(transport, 'the server', { prefix, a2aPrefix, healthPath, apiKey: key })
}

const keyName = 'agentserve.key'

/** The key is in the page's memory; a person may keep it until the tab is closed. Never longer. */
export const keptKey = {
  read: (): string | undefined => sessionStorage.getItem(keyName) ?? undefined,
  keep: (key: string): void => sessionStorage.setItem(keyName, key),
  forget: (): void => sessionStorage.removeItem(keyName),
}

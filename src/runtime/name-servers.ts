import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { Network } from './public-network.ts'

/**
 * Asks the name servers of this machine itself. The usual look-up holds a thread of libuv's pool until it is answered, where
 * commits are made too: names whose servers are silent would hold those up. Does not know the hosts file. `servers`: for tests.
 */
export function nameServers(servers?: readonly string[]): Network {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  return {
    async lookup(hostname, { family = 0 }) {
      const asked: Promise<LookupAddress[]>[] = []
      if (family !== 6) asked.push(withFamily(resolver.resolve4(hostname), 4))
      if (family !== 4) asked.push(withFamily(resolver.resolve6(hostname), 6))
      const answers = await Promise.allSettled(asked)
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      const [first] = answers
      if (found.length === 0 && first?.status === 'rejected') throw first.reason
      return found
    },
  }
}

async function withFamily(found: Promise<string[]>, family: 4 | 6): Promise<LookupAddress[]> {
  return (await found).map((address) => ({ address, family }))
}

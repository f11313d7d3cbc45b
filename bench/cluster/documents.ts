import type { Instance } from '../../test/support/cluster/instances.ts'
import { ask } from '../../test/support/cluster/requests.ts'
import type { Client } from './asking.ts'
import type { Balanced } from './balanced.ts'
import { between } from './random.ts'
import type { Told } from './told.ts'

/* Clients of the knowledge base: what was added is found everywhere at once, what was replaced or deleted nowhere. */

const filler = 'Nothing else of it matters to anybody who looks for something. '

/** Adds a document, replaces it now and then, and deletes it in the end or leaves it. */
const document: Client = async (client, name) => {
  const { told, random } = client
  const source = `${name}.md`
  const words: string[] = []
  let id: string | undefined
  for (let version = between(random, 1, 3); version > 0; version--) {
    const word = wordOf(name, words.length)
    const body = { content: `# About ${name}\n\nIts word is ${word}. ${filler.repeat(20)}`, source }
    const added = await client.ask('add', { path: '/knowledge/content', body })
    if (added === undefined) return
    if (![200, 201].includes(added.status))
      return told.wrong(`${source} could not be added: ${added.status} ${JSON.stringify(added.body)?.slice(0, 300)}`)
    id = added.body.document_id
    words.push(word)
    told.documents.set(source, word)
    for (const earlier of words.slice(0, -1)) await expectFound(client, earlier, source, false)
    await expectFound(client, word, source, true)
  }
  if (between(random, 0, 2) > 0 || id === undefined) return
  const deleted = await client.ask('delete document', { path: `/knowledge/documents/${id}`, method: 'DELETE' })
  if (deleted === undefined) return
  // The answer of a first try may have been lost.
  if (![200, 404].includes(deleted.status))
    return told.wrong(
      `${source} could not be deleted: ${deleted.status} ${JSON.stringify(deleted.body)?.slice(0, 300)}`,
    )
  told.documents.set(source, undefined)
  for (const word of words) await expectFound(client, word, source, false)
}

/** All vectors anew, while others search and add. */
const reindex: Client = async (client, name) => {
  if (between(client.random, 0, 3) > 0) return
  const asked = await client.ask('reindex', { path: '/knowledge/reindex', body: {} })
  if (asked !== undefined && ![200, 202, 409].includes(asked.status))
    client.told.wrong(`${name} got ${asked.status} ${JSON.stringify(asked.body)?.slice(0, 300)}`)
}

export const documents: Record<string, Client> = { document, reindex }

/** On every instance, everything that was said to be there, and nothing that was said to be gone. */
export async function verifyDocuments(told: Told, instances: readonly Instance[]): Promise<void> {
  for (const { url, name } of instances) {
    for (const [source, kept] of told.documents) {
      const word = kept ?? wordOf(source.slice(0, -3), 0)
      const { status, body } = await ask(url, '/knowledge/search', { body: queryOf(word) })
      if (status !== 200) told.wrong(`searching on ${name} is ${status} in the end`)
      else if (has(body, source, word) !== (kept !== undefined))
        told.wrong(`${source} is ${kept === undefined ? 'still' : 'not'} found on ${name} in the end`)
    }
  }
}

async function expectFound(client: Balanced, word: string, source: string, expected: boolean): Promise<void> {
  const found = await client.ask('knowledge', { path: '/knowledge/search', body: queryOf(word) })
  if (found === undefined) return
  if (found.status !== 200)
    return client.told.wrong(`${source}: searching is ${found.status} ${JSON.stringify(found.body)?.slice(0, 300)}`)
  if (has(found.body, source, word) !== expected)
    client.told.wrong(`${source} is ${expected ? 'not' : 'still'} found by ${word}`)
}

const wordOf = (name: string, version: number) => `leaf${name.replaceAll(/\W/g, '')}v${version}x`
const queryOf = (query: string) => ({ query, mode: 'keyword', limit: 5 })

/** A word that is nowhere any more is searched for by those that are like it. */
function has(body: { results?: Result[] } | undefined, source: string, word: string): boolean {
  return (body?.results ?? []).some((result) => result.source === source && result.content.includes(word))
}

interface Result {
  source: string
  content: string
}

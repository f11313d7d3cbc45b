import type { DocumentStore } from '../../core/knowledge/document-store.ts'
import type { BroughtSources } from '../../core/knowledge/knowledge.ts'

/** `remove` deletes a document with its vectors; a missing document is ignored. */
export function createBrought(
  documents: DocumentStore,
  defaultCollection: string,
  remove: (documentId: string) => Promise<void>,
): BroughtSources {
  return {
    list: async (collection = defaultCollection) => new Set(await documents.brought(collection)),

    async change({ add = [], forget = [] }, collection = defaultCollection) {
      if (add.length + forget.length > 0) await documents.changeBrought(collection, add, forget)
    },

    async delete(sources, collection = defaultCollection) {
      const known = await documents.findCollection(collection)
      if (known === undefined) return 0
      const found = await documents.findBySources(known.key, sources)
      for (const { document_id } of found.values()) await remove(document_id)
      return found.size
    },
  }
}

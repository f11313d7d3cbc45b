import { isAppError } from '../../core/error.ts'
import type { Collection, DocumentStore } from '../../core/knowledge/document-store.ts'
import type { Lock } from './lock.ts'
import type { CollectionIndex } from './vectors/index-document.ts'

export interface RemovalDrivers {
  documents: DocumentStore
  lock: Lock
  indexOf(collection: Collection): Promise<CollectionIndex>
}

export interface Removal {
  /** Throws `document_not_found`. */
  deleteDocument(documentId: string): Promise<void>
  /** Ignores a missing document. */
  removeDocument(documentId: string): Promise<void>
}

export function createRemoval({ documents, lock, indexOf }: RemovalDrivers): Removal {
  const deleteDocument = async (documentId: string): Promise<void> => {
    const { source, collection: name } = await documents.getDocument(documentId)
    await lock.shared({ key: `${name}\0${source}`, weight: 0, caller: '' }, async () => {
      const { generation } = await documents.deleteDocument(documentId)
      await documents.collect([generation])
      const collection = await documents.findCollection(name)
      if (!collection) return
      // The document is deleted; leftover vectors are never shown, and go when the index is next compared.
      const index = await indexOf(collection).catch(() => undefined)
      for (const { table, missing } of index?.lists ?? []) {
        await table.removeGenerations([generation])
        missing.delete(generation)
      }
    })
  }
  return {
    deleteDocument,
    removeDocument: (documentId) =>
      deleteDocument(documentId).catch((error: unknown) => {
        if (!isAppError(error) || error.code !== 'document_not_found') throw error
      }),
  }
}

import { isAppError } from '../../core/error.ts'
import type { Collection, DocumentStore } from '../../core/knowledge/document-store.ts'
import type { Logger } from '../../core/logger.ts'
import { removeLeftovers } from './leftovers.ts'
import type { Lock } from './lock.ts'
import type { CollectionIndex } from './vectors/index-document.ts'

export interface RemovalDrivers {
  documents: DocumentStore
  lock: Lock
  logger: Logger
  indexOf(collection: Collection): Promise<CollectionIndex>
}

export interface Removal {
  /** Throws `document_not_found`. */
  deleteDocument(documentId: string): Promise<void>
  /** Ignores a missing document. */
  removeDocument(documentId: string): Promise<void>
}

export function createRemoval({ documents, lock, logger, indexOf }: RemovalDrivers): Removal {
  const listsOf = async (name: string) => {
    const collection = await documents.findCollection(name)
    // Vectors of an index that can't be opened go when it is next compared.
    const index = collection && (await indexOf(collection).catch(() => undefined))
    return index?.lists ?? []
  }
  const deleteDocument = async (documentId: string): Promise<void> => {
    const { source, collection: name } = await documents.getDocument(documentId)
    await lock.shared({ key: `${name}\0${source}`, weight: 0, caller: '' }, async () => {
      const { generation } = await documents.deleteDocument(documentId)
      // The document is deleted, whatever comes of its rows.
      await removeLeftovers({ documents, logger }, () => listsOf(name), [generation])
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

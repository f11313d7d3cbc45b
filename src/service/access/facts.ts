import { notFound } from '../../core/error.ts'
import type { FactStore } from '../../core/memory/fact.ts'
import type { Facts } from '../services.ts'

export function createFacts(store: FactStore): Facts {
  return {
    list: (userId) => store.listFacts(userId),
    async delete(userId, factId) {
      if (!(await store.deleteFact(userId, factId))) throw notFound('fact', factId)
    },
    deleteAll: (userId) => store.deleteFacts(userId),
  }
}

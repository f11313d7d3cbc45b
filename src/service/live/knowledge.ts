import type { Knowledge } from '../../core/knowledge/knowledge.ts'

/** The same knowledge base; `onChange` is called after whatever changes its status, and while it is embedded again. */
export function watchKnowledge<K extends Knowledge>(knowledge: K, onChange: () => void): K {
  const watched = <T>(work: Promise<T>): Promise<T> => work.finally(onChange)
  const { brought } = knowledge
  const watching: Knowledge = {
    ...knowledge,
    brought: { ...brought, delete: (...given) => watched(brought.delete(...given)) },
    ingest: (...given) => watched(knowledge.ingest(...given)),
    ingestFile: (...given) => watched(knowledge.ingestFile(...given)),
    ingestMany: (...given) => watched(knowledge.ingestMany(...given)),
    tellSources: (sources) => {
      knowledge.tellSources(sources)
      onChange()
    },
    deleteDocument: (documentId) => watched(knowledge.deleteDocument(documentId)),
    reindex: (options = {}) => {
      const progress: typeof options.progress = (now) => {
        options.progress?.(now)
        onChange()
      }
      return watched(knowledge.reindex({ ...options, progress }))
    },
  }
  return { ...knowledge, ...watching }
}

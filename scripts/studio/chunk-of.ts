interface ModuleInfo {
  isEntry: boolean
  importers: readonly string[]
}

interface Graph {
  getModuleInfo(id: string): ModuleInfo | null
}

/** The name of the file that a module goes into: two of them, because few large files are smaller, compressed, than many small ones. */
export function chunkOf(id: string, graph: Graph): 'studio' | 'later' {
  return isFirst(id, graph, new Set()) ? 'studio' : 'later'
}

/** Whether it comes with the entry, and not only when something is opened. */
function isFirst(id: string, graph: Graph, seen: Set<string>): boolean {
  seen.add(id)
  const module = graph.getModuleInfo(id)
  if (module === null) return false
  return module.isEntry || module.importers.some((importer) => !seen.has(importer) && isFirst(importer, graph, seen))
}

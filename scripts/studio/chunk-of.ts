interface ModuleInfo {
  isEntry: boolean
  importers: readonly string[]
  dynamicImporters: readonly string[]
}

interface Graph {
  getModuleInfo(id: string): ModuleInfo | null
}

/** What few people open each day: running again, comparing, tests. */
const rarely = /\/src\/studio\/(again|diff|file|tests|watch|.+\/replay|.+\/passages-try)\b/

/** The name of the file that a module goes into: few of them, because few large files are smaller, compressed, than many small ones. */
export function chunkOf(id: string, graph: Graph): 'studio' | 'later' | 'again' {
  if (isFirst(id, graph, new Set())) return 'studio'
  return isRare(id, graph, new Set()) ? 'again' : 'later'
}

/** Whether it comes with the entry, and not only when something is opened. */
function isFirst(id: string, graph: Graph, seen: Set<string>): boolean {
  seen.add(id)
  const module = graph.getModuleInfo(id)
  if (module === null) return false
  return module.isEntry || module.importers.some((importer) => !seen.has(importer) && isFirst(importer, graph, seen))
}

/** Whether nothing but what is rarely opened needs it. */
function isRare(id: string, graph: Graph, seen: Set<string>): boolean {
  if (rarely.test(id.replaceAll('\\', '/'))) return true
  seen.add(id)
  const { importers: now = [], dynamicImporters: later = [] } = graph.getModuleInfo(id) ?? {}
  const importers = [...now, ...later]
  return importers.length > 0 && importers.every((importer) => seen.has(importer) || isRare(importer, graph, seen))
}

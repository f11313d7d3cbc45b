interface Graph {
  getModuleInfo(id: string): { isEntry: boolean; importers: readonly string[] } | null
}

/** What is seen together is loaded together: few large files are smaller, compressed, than many small ones. */
const chunks: readonly [name: string, modules: RegExp][] = [
  ['library', /\/studio\/(?:knowledge|agents|search)\//],
  ['chats', /./],
]

/** The name of the file that a module goes into. Null: it is part of what is loaded first, or the bundler decides. */
export function chunkOf(id: string, graph: Graph): string | null {
  return isFirst(id, graph, new Set()) ? null : (chunks.find(([, modules]) => modules.test(id))?.[0] ?? null)
}

/** Whether it comes with the entry, and not only when something is opened. */
function isFirst(id: string, graph: Graph, seen: Set<string>): boolean {
  seen.add(id)
  const module = graph.getModuleInfo(id)
  if (module === null) return false
  return module.isEntry || module.importers.some((importer) => !seen.has(importer) && isFirst(importer, graph, seen))
}

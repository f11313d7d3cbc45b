const longest = 64

/** Names of tools for entities: `[A-Za-z0-9_-]`, at most 64 characters, with a number where two would be the same. */
export function toolNames(ids: readonly string[], prefix: string): Map<string, string> {
  const names = new Map<string, string>()
  // Ids that are names already keep theirs, whatever comes before them.
  const isName = (id: string) => prefix + id === wordOf(prefix + id)
  for (const id of [...ids.filter(isName), ...ids.filter((id) => !isName(id))]) {
    const word = wordOf(prefix + id)
    let name = word
    for (let number = 2; names.has(name); number++) {
      const ending = `_${number}`
      name = word.slice(0, longest - ending.length) + ending
    }
    names.set(name, id)
  }
  return names
}

function wordOf(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, longest)
}

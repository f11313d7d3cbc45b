type Sdk = typeof import('ai')

let loaded: Sdk | undefined

/** Loads the AI SDK on first use and caches it: resolving a package by name costs as much as a short model call. */
export async function loadSdk(): Promise<Sdk> {
  loaded ??= await import('ai')
  return loaded
}

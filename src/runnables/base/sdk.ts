type Sdk = typeof import('ai')

let loaded: Sdk | undefined

/** The AI SDK, loaded with the first need and kept: finding a package by its name costs as much as a short model call. */
export async function loadSdk(): Promise<Sdk> {
  loaded ??= await import('ai')
  return loaded
}

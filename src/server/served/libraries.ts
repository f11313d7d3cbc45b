import { type Lack, libraryLack } from '../../knowledge/embedders/transformers-process.ts'
import { loadLance } from '../../knowledge/vectors/lancedb.ts'

/** Loads the native code that keeps vectors; throws with what to do when it can't be loaded here. */
export async function loadVectors(): Promise<void> {
  await loadLance()
}

/** The command that adds the package of sentence models, when it is not installed. */
export function sentenceModelsLack(): Lack | undefined {
  return libraryLack()
}

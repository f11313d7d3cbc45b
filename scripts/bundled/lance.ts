import { join } from 'node:path'

const arrow = join(import.meta.dirname, '../../src/knowledge/vectors/arrow.ts')
const embedders = /@lancedb[\\/]lancedb[\\/]dist[\\/]embedding[\\/](openai|transformers)\.js$/

/**
 * A plugin of the build: puts LanceDB's JavaScript into the bundle, with one copy of Arrow. Its own embedders stay out:
 * nothing calls them, and they load packages that agentserve does not install.
 */
export function bundleLance() {
  return {
    name: 'bundle-lance',
    load(id: string) {
      if (id === arrow) return { code: "export const arrow = require('apache-arrow')", moduleType: 'js' as const }
      return embedders.test(id) ? { code: '', moduleType: 'js' as const } : undefined
    },
  }
}

import { readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

/** By folder: the root of its agentserve package, or undefined. */
const roots = new Map<string, string | undefined>()

/** Whether a file is agentserve's own code, which a reload must not load a second time. */
export function isOwnFile(path: string): boolean {
  const root = ownRoot(dirname(path))
  return root !== undefined && ['dist', 'src', 'bin'].includes(relative(root, path).split(sep)[0] ?? '')
}

function ownRoot(folder: string): string | undefined {
  if (roots.has(folder)) return roots.get(folder)
  const name = packageName(folder)
  const parent = dirname(folder)
  const root = name === undefined && parent !== folder ? ownRoot(parent) : name === 'agentserve' ? folder : undefined
  roots.set(folder, root)
  return root
}

function packageName(folder: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return String((manifest as { name?: unknown }).name ?? '')
  } catch {
    return undefined
  }
}

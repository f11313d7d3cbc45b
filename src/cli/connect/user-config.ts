/** The config as it is on disk, before its defaults. */
export async function loadUserConfig(named: string | undefined, signal: AbortSignal) {
  const { loadConfig } = await import('../../config/load/load.ts')
  const { configParts } = await import('../../server.ts')
  const { withBuiltIn } = await import('../../config/built-in.ts')
  const { user, root, file } = await loadConfig({ folder: process.cwd(), file: named, signal })
  return { root, file, user: withBuiltIn(user, configParts, root) }
}

import { existsSync } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { root } from './program.ts'

/** What a page with `useChat` in React needs. */
export const pagePackages = ['@ai-sdk/react', '@types/react', '@types/react-dom', 'ai', 'react', 'react-dom']

/** Links what only test/judges has into the `node_modules` of a folder, in place of what is there. */
export async function linkJudges(folder: string, names: readonly string[]): Promise<void> {
  const judges = join(root, 'test/judges')
  if (!existsSync(join(judges, 'node_modules'))) throw new Error('The judges are not installed: npm run judges')
  await linkFrom(judges, folder, names)
}

/** Links packages of the repository. */
export function linkOwn(folder: string, names: readonly string[]): Promise<void> {
  return linkFrom(root, folder, names)
}

async function linkFrom(home: string, folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await rm(link, { force: true })
    await symlink(join(home, 'node_modules', name), link, 'dir')
  }
}

import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { version } from '../../core/version.ts'
import { packageFolder } from './package-folder.ts'

export const templates = {
  basic: { about: 'one agent that answers from your documents', first: 'chat docs' },
  knowledge: { about: 'two ways of answering from documents', first: 'chat handbook' },
  team: { about: 'a team of agents that work together', first: 'chat desk' },
  workflow: { about: 'a workflow: steps in plain TypeScript', first: `chat report --message '{"topic":"green tea"}'` },
  'chat-ui': { about: 'a web page with useChat of the AI SDK, in React', script: 'page' },
} as const satisfies Record<string, { about: string; first: string } | { about: string; script: string }>
export type TemplateName = keyof typeof templates

/** npm would leave these files out of a package under their own name. */
const renamed: Record<string, string> = { _gitignore: '.gitignore', '_package.json': 'package.json' }

export interface TemplateFile {
  /** In the package. */
  source: string
  /** In the project. */
  name: string
}

/** The files of a template, by name, plus those of all templates that it has no other version of. */
export async function listTemplate(template: TemplateName): Promise<TemplateFile[]> {
  const folders = ['shared', template].map((name) => join(packageFolder, 'templates', name))
  const files = (await Promise.all(folders.map(listFolder))).flat()
  const byName = new Map(files.map((file) => [file.name, file]))
  return [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

async function listFolder(folder: string): Promise<TemplateFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const source = join(entry.parentPath, entry.name)
      const name = relative(folder, join(entry.parentPath, renamed[entry.name] ?? entry.name))
      return { source, name }
    })
}

export async function findTaken(project: string, files: readonly TemplateFile[]): Promise<string[]> {
  const found = await Promise.all(files.map(({ name }) => stat(join(project, name)).catch(() => undefined)))
  return files.filter((_file, place) => found[place] !== undefined).map(({ name }) => name)
}

/** Writes the file into the project; overwrites. */
export async function writeTemplateFile({ source, name }: TemplateFile, project: string): Promise<void> {
  const target = join(project, name)
  await mkdir(dirname(target), { recursive: true })
  if (name !== 'package.json') return copyFile(source, target)
  const text = await readFile(source, 'utf8')
  await writeFile(target, text.replaceAll('{{name}}', packageName(project)).replaceAll('{{version}}', version))
}

function packageName(project: string): string {
  const name = basename(project).toLowerCase()
  return name.replace(/[^a-z0-9._-]+/g, '-').replace(/^[._-]+/, '') || 'agents'
}

import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { version } from '../../core/version.ts'
import { completeIgnored, completePackage } from './package-file.ts'
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

interface TemplateFile {
  /** In the package. */
  source: string
  /** In the project. */
  name: string
}

/** The files of a template, by name, plus those of all templates that it has no other version of. */
async function listTemplate(template: TemplateName): Promise<TemplateFile[]> {
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

/** A file of a template as it comes into a project. */
export interface PlannedFile {
  name: string
  text: string
  /** The project has one: `completed` is that with what the template has more, if the two go together. */
  taken?: { completed: string | undefined }
}

/** The files of a template for a project, with what the project has of that name already. */
export async function planFiles(project: string, template: TemplateName): Promise<PlannedFile[]> {
  const planned: PlannedFile[] = []
  for (const { source, name } of await listTemplate(template)) {
    const text = filled(await readFile(source, 'utf8'), name, project)
    const path = join(project, name)
    if ((await stat(path).catch(() => undefined)) === undefined) planned.push({ name, text })
    else planned.push({ name, text, taken: { completed: await complete(path, name, text) } })
  }
  return planned
}

async function complete(path: string, name: string, text: string): Promise<string | undefined> {
  const completeFile = completed[name]
  if (completeFile === undefined) return undefined
  const own = await readFile(path, 'utf8').catch(() => undefined)
  return own === undefined ? undefined : completeFile(own, text)
}

const completed: Record<string, typeof completePackage> = {
  'package.json': completePackage,
  '.gitignore': completeIgnored,
}

/** Writes all of the files into the project, or none when the disk is full; replaces what is there. */
export async function writeFiles(project: string, files: readonly { name: string; text: string }[]): Promise<void> {
  const made = await mkdir(project, { recursive: true })
  const draft = await mkdtemp(join(project, '.init-'))
  try {
    for (const { name, text } of files) {
      await mkdir(dirname(join(draft, name)), { recursive: true })
      await writeFile(join(draft, name), text)
    }
    for (const { name } of files) await mkdir(dirname(join(project, name)), { recursive: true })
    for (const { name } of files) await rename(join(draft, name), join(project, name))
    await rm(draft, { recursive: true })
  } catch (error) {
    await rm(made ?? draft, { recursive: true, force: true })
    throw error
  }
}

function filled(text: string, name: string, project: string): string {
  if (name !== 'package.json') return text
  return text.replaceAll('{{name}}', packageName(project)).replaceAll('{{version}}', version)
}

function packageName(project: string): string {
  const name = basename(project).toLowerCase()
  return name.replace(/[^a-z0-9._-]+/g, '-').replace(/^[._-]+/, '') || 'agents'
}

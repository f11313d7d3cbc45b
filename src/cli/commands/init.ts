import { constants, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { Option } from 'commander'
import { AppError } from '../../core/error.ts'
import { version } from '../../core/version.ts'
import type { CommandModule } from '../command.ts'
import { printJson, say } from '../output.ts'
import { packageFolder } from '../package-folder.ts'

interface InitOptions {
  template: string
  json?: boolean
}

/** Files that npm would leave out of a package under their own name. */
const renamed: Record<string, string> = { _gitignore: '.gitignore', '_package.json': 'package.json' }

export const command: CommandModule<InitOptions> = {
  define: (command) =>
    void command
      .argument('[folder]', 'where; made if it is not there (default: here)')
      .addOption(new Option('--template <name>', 'what to start from').choices(['basic']).default('basic'))
      .option('--json', 'what was written as JSON'),
  async run(_context, { template, json }, folder = '.') {
    const target = resolve(folder)
    const source = join(packageFolder, 'templates', template)
    const files = await listFiles(source)
    const taken = await firstExisting(target, files.map(targetName))
    if (taken !== undefined)
      throw new AppError('conflict', `${join(folder, taken)} is there already; nothing was written.`)
    for (const file of files) await write(join(source, file), join(target, targetName(file)), target)
    if (json) printJson({ folder: target, template, files: files.map(targetName) })
    else say(`Wrote ${files.length} files to ${target}.\n\n${nextSteps(target)}`)
    return undefined
  },
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

function targetName(file: string): string {
  return join(dirname(file), renamed[basename(file)] ?? basename(file))
}

async function firstExisting(folder: string, files: string[]): Promise<string | undefined> {
  for (const file of files) if (await stat(join(folder, file)).catch(() => undefined)) return file
  return undefined
}

async function write(source: string, target: string, project: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  if (basename(target) !== 'package.json') return copyFile(source, target, constants.COPYFILE_EXCL)
  const name =
    basename(project)
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .replace(/^[._-]+/, '') || 'agents'
  const text = (await readFile(source, 'utf8')).replaceAll('{{name}}', name).replaceAll('{{version}}', version)
  await writeFile(target, text, { flag: 'wx' })
}

function nextSteps(target: string): string {
  const folder = relative(process.cwd(), target)
  const steps = ['npm install', 'npm run dev', 'npx agentserve chat docs']
  return ['Next:', ...(folder === '' ? steps : [`cd ${folder}`, ...steps]).map((step) => `  ${step}`)].join('\n')
}

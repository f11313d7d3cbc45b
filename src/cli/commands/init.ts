import { relative, resolve } from 'node:path'
import { Option } from 'commander'
import { AppError } from '../../core/error.ts'
import { exit } from '../command/exit-codes.ts'
import { plainFlag } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { toFolderError } from '../connect/file-error.ts'
import { findTaken, listTemplate, type TemplateName, templates, writeTemplateFile } from '../init/template.ts'
import { callThrough, packageManager } from '../terminal/called-as.ts'
import { canAsk, choose, confirm } from '../terminal/confirm.ts'
import { printJson, say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'

interface InitOptions {
  template?: TemplateName
  overwrite?: boolean
  json?: boolean
}

const names = Object.keys(templates) as TemplateName[]

export const command: CommandModule<InitOptions> = {
  define: (command) =>
    void command
      .argument('[folder]', 'the project folder, created if missing (default: this folder)')
      .addOption(
        new Option('--template <name>', 'the template (default: asks in a terminal, otherwise basic)').choices(names),
      )
      .option('--overwrite', 'overwrite existing files')
      .option('--json', 'print the written files as JSON')
      .addOption(plainFlag()),
  async run({ signal }, { template: named, overwrite, json }, folder = '.') {
    const target = resolve(folder)
    const asks = canAsk() && json !== true
    const choices = names.map((name) => ({ name, about: templates[name].about }))
    const template =
      named ?? (asks ? await choose('Which template do you want to start from?', choices, signal) : 'basic')
    const files = await listTemplate(template)
    const taken = await findTaken(target, files)
    if (taken.length > 0 && overwrite !== true) {
      if (!asks) throw refusal(taken)
      say(`These files already exist: ${taken.map(terminalLine).join(', ')}`)
      if (!(await confirm('Overwrite them?', signal))) {
        say('Nothing was written.')
        return exit.failure
      }
    }
    try {
      for (const file of files) await writeTemplateFile(file, target)
    } catch (error) {
      throw toFolderError(error, terminalLine(target))
    }
    if (json) printJson({ folder: target, template, files: files.map(({ name }) => name) })
    else say(`Wrote ${files.length} files to ${terminalLine(target)}.\n\n${nextSteps(target, template)}`)
    return undefined
  },
}

function refusal(taken: readonly string[]): AppError {
  const are = taken.length === 1 ? 'is' : 'are'
  return new AppError(
    'conflict',
    `${taken.join(', ')} ${are} there already. Nothing was written. Use --overwrite to replace.`,
  )
}

function nextSteps(target: string, template: TemplateName): string {
  const folder = relative(process.cwd(), target)
  const manager = packageManager() ?? 'npm'
  const run = manager === 'npm' || manager === 'bun' ? `${manager} run` : manager
  const chosen = templates[template]
  const first = 'script' in chosen ? `${run} ${chosen.script}` : `${callThrough[manager]} ${chosen.first}`
  const steps = [
    `${manager} install`,
    `${run} test`.replace('npm run test', 'npm test'),
    `${run} dev`,
    `${first}   (in another terminal)`,
  ]
  return ['Next:', ...(folder === '' ? steps : [`cd ${folder}`, ...steps]).map((step) => `  ${step}`)].join('\n')
}

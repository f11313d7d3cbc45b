import { resolve } from 'node:path'
import { Option } from 'commander'
import { AppError } from '../../core/error.ts'
import { exit } from '../command/exit-codes.ts'
import { toFolderError } from '../command/file-error.ts'
import { plainFlag } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { nextSteps } from '../init/next-steps.ts'
import { planFiles, type TemplateName, templates, writeFiles } from '../init/template.ts'
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
    const files = await planFiles(target, template)
    const completed = overwrite
      ? []
      : files.filter((file) => file.taken?.completed !== undefined).map(({ name }) => name)
    const taken = files.filter((file) => file.taken && file.taken.completed === undefined).map(({ name }) => name)
    if (taken.length > 0 && overwrite !== true) {
      if (!asks) throw refusal(taken)
      say(`These files already exist: ${taken.map(terminalLine).join(', ')}`)
      if (!(await confirm('Overwrite them?', signal))) {
        say('Nothing was written.')
        return exit.failure
      }
    }
    try {
      const texts = files.map(({ name, text, taken }) => ({ name, text: (!overwrite && taken?.completed) || text }))
      await writeFiles(target, texts)
    } catch (error) {
      throw toFolderError(error, terminalLine(target))
    }
    if (json) printJson({ folder: target, template, files: files.map(({ name }) => name) })
    else say(`${summary(target, files.length, completed)}\n\n${nextSteps(target, template)}`)
    return undefined
  },
}

function summary(target: string, count: number, completed: readonly string[]): string {
  const kept = completed.length === 0 ? '' : ` ${completed.join(' and ')} kept what was there.`
  return `Wrote ${count} files to ${terminalLine(target)}.${kept}`
}

function refusal(taken: readonly string[]): AppError {
  const are = taken.length === 1 ? 'is' : 'are'
  return new AppError(
    'conflict',
    `${taken.join(', ')} ${are} there already. Nothing was written. Use --overwrite to replace.`,
  )
}

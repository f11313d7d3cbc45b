import { Argument } from 'commander'
import type { Prepared } from '../../server/storage.ts'
import { UsageError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { addProjectFlags, type ProjectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withProject } from '../connect/project.ts'
import { hint } from '../terminal/called-as.ts'
import { print, printJson, say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { showStatus } from './storage/status.ts'

interface StorageOptions extends ProjectOptions {
  print?: boolean
  from?: string
}

const actions = ['status', 'prepare', 'upgrade', 'import-knowledge']

export const command: CommandModule<StorageOptions> = {
  define: (command) =>
    void addProjectFlags(command)
      .addArgument(new Argument('[action]', 'the action').choices(actions).default('status'))
      .option('--print', 'with prepare and upgrade: print the statements instead of executing them')
      .option(
        '--from <folder>',
        'with import-knowledge: the folder of the local knowledge base (default: knowledge in the data folder)',
      ),
  async run({ signal }, options, action = 'status') {
    if (options.print && action !== 'prepare' && action !== 'upgrade')
      throw new UsageError('--print can only be used with prepare and upgrade.')
    const isImport = action === 'import-knowledge'
    if (options.from !== undefined && !isImport) throw new UsageError('--from can only be used with import-knowledge.')
    const storage = await import('../../server/storage.ts')
    return withProject(options, signal, async (config) => {
      if (isImport) {
        const { showImport } = await import('./storage/import-knowledge.ts')
        return showImport(config, { from: options.from, json: options.json === true, signal })
      }
      const place = storage.placeOfDatabase(config)
      const json = options.json === true
      if (options.print) {
        const { text, unasked } = await storage.preparationScript(config, action === 'upgrade')
        if (unasked !== undefined) say(`${unasked} So these are the statements for an empty database.`)
        print(text)
        return exit.ok
      }
      if (action === 'status') return showStatus(await storage.readDatabaseStatus(config), place, json)
      if (action === 'prepare') return showPrepared(await storage.prepareDatabase(config), place, json)
      return showUpgraded(await storage.upgradeDatabase(config, signal), place, json)
    })
  },
}

function showPrepared({ older: _, ...prepared }: Prepared, place: string, json: boolean): number {
  if (json) printJson({ place, ...prepared })
  else sayStep(prepared, place)
  if (!json && prepared.waiting.length > 0)
    say(
      `What older servers can't work with (step ${prepared.waiting.join(', ')}) is left to ${hint('storage upgrade')}.`,
    )
  return exit.ok
}

function showUpgraded(prepared: Prepared, place: string, json: boolean): number {
  const { waiting, older } = prepared
  if (json) printJson({ place, ...prepared })
  else sayStep(prepared, place)
  if (waiting.length === 0) return exit.ok
  say(
    `Step ${waiting.join(', ')} was not applied: servers are running that can't work with it. Replace or stop them first:`,
  )
  for (const { owner, version, address, knows } of older)
    say(terminalLine(`  ${address ?? 'a command'} (${owner}), version ${version}, knows step ${knows}`))
  return exit.failure
}

function sayStep({ step, applied }: Pick<Prepared, 'step' | 'applied'>, place: string): void {
  say(`The tables at ${terminalLine(place)} are ${applied === 0 ? 'up to date' : 'ready'} (step ${step}).`)
}

import { readFile, writeFile } from 'node:fs/promises'
import { disposeWithin } from '../../config/unsettled.ts'
import type { Difference, PlayedTest } from '../../testing/play.ts'
import { UsageError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { plainFlag } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { loadUserConfig } from '../connect/user-config.ts'
import { print, printJson, say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'

interface TestOptions {
  config?: string
  json?: boolean
  liveTools?: boolean
  update?: boolean
}

export const command: CommandModule<TestOptions> = {
  define: (command) =>
    void command
      .argument('[files...]', 'saved conversations (default: every *.session.json under this folder)')
      .option('--config <file>', 'the config file (default: agent.config.ts in this folder)')
      .option('--live-tools', 'run the tools instead of replaying their recorded results')
      .option('--update', 'update the files with the new answers')
      .option('--json', 'print the result of each file as JSON, one per line')
      .addOption(plainFlag()),
  async run({ signal }, { config: configFile, json, liveTools, update }, ...named) {
    const { findTestFiles, toFileText } = await import('../../testing/test-files.ts')
    const files = named.length > 0 ? named : await findTestFiles(process.cwd())
    if (files.length === 0) {
      throw new UsageError('No *.session.json found here. `agentserve sessions save-test <session>` writes one.')
    }
    const { user, root, file } = await loadUserConfig(configFile, signal)
    const { dispose, ...config } = user
    let failed = 0
    try {
      const { parseSavedTest } = await import('../../testing/saved-test.ts')
      const { playSavedTest } = await import('../../testing/play.ts')
      for (const file of files) {
        signal.throwIfAborted()
        const saved = parseSavedTest(await readText(file), file)
        const played = await playSavedTest(config, saved, { root, tools: liveTools ? 'live' : undefined })
        const accepted = update === true && !played.passed
        if (accepted) await writeFile(file, toFileText(played.updated))
        else if (!played.passed) failed++
        if (json) printJson({ file, passed: played.passed, updated: accepted, ...told(played) })
        else report(file, saved.turns.length, played, accepted)
      }
    } finally {
      await disposeWithin(dispose, file)
    }
    if (!json) say(`${files.length - failed} of ${files.length} passed.`)
    return failed === 0 ? exit.ok : exit.failure
  },
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    throw new UsageError(`There is no file '${file}'.`)
  }
}

function told({ differences, notes }: PlayedTest) {
  return { differences, notes }
}

function report(file: string, turns: number, { passed, differences, notes }: PlayedTest, accepted: boolean): void {
  const mark = passed ? 'ok      ' : accepted ? 'updated ' : 'FAILED  '
  print(`${mark}${terminalLine(file)} (${turns} turn${turns === 1 ? '' : 's'})`)
  for (const difference of differences) print(`  ${describe(difference)}`)
  for (const note of notes) print(`  note: ${note}`)
}

function describe({ turn, what, expected, actual }: Difference): string {
  const show = (value: unknown) => terminalLine(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 300)
  return `turn ${turn}: ${what.replace('_', ' ')}\n    expected ${show(expected)}\n    got      ${show(actual)}`
}

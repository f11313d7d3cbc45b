import { UsageError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { integerBetween, plainFlag } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { printJson, say } from '../terminal/output.ts'
import type { PlayedFile } from '../tests/report.ts'

interface TestOptions {
  against?: string
  config?: string
  data?: string
  json?: boolean
  liveTools?: boolean
  recorded?: boolean
  scores?: boolean
  times?: number
  update?: boolean
}

const times = integerBetween(1, 10)

export const command: CommandModule<TestOptions> = {
  define: (command) =>
    void command
      .argument('[files...]', 'saved conversations (default: every *.session.json under this folder)')
      .option('--config <file>', 'the config file (default: agent.config.ts in this folder)')
      .option('--data <folder>', 'the data folder, which keeps scores (default: .agentserve)')
      .option('--live-tools', 'run the tools instead of replaying their recorded results')
      .option('--update', 'update the files with the new answers')
      .option('--times <number>', 'play each test so often; one that passes some of the times is flaky', times)
      .option('--scores', "ask the config's models, and score their answers with its scorers")
      .option('--recorded', 'with --scores: score the recorded answers instead of asking models')
      .option('--against <commit>', 'with --scores: compare with the scores of this commit (default: the last ones)')
      .option('--json', 'print the result of each file as JSON, one per line')
      .addOption(plainFlag()),
  async run({ signal }, options, ...named) {
    const { scores, json } = options
    assertFit(options)
    const { findTestFiles } = await import('../../testing/test-files.ts')
    const files = named.length > 0 ? named : await findTestFiles(process.cwd())
    if (files.length === 0) {
      throw new UsageError('No *.session.json found here. `agentserve sessions save-test <session>` writes one.')
    }
    const kept = scores ? await (await import('../tests/kept-scores.ts')).openKeptScores(options, signal) : undefined
    const { playFiles } = await import('../tests/play-files.ts')
    const { report, toJson } = await import('../tests/report.ts')
    const played: PlayedFile[] = []
    for await (const one of playFiles(files, { ...options, kept, signal })) {
      played.push(one)
      if (json) printJson(toJson(one))
      else report(one)
    }
    await kept?.keep(played)
    const failed = played.filter(({ outcome, updated }) => !outcome.passed && !updated).length
    if (!json) say(`${files.length - failed} of ${files.length} passed.`)
    return failed === 0 ? exit.ok : exit.failure
  },
}

function assertFit({ scores, update, recorded, against }: TestOptions): void {
  if (scores && update) throw new UsageError('--update has nothing to update with --scores. Leave one of them out.')
  if (!scores && recorded) throw new UsageError('--recorded needs --scores.')
  if (!scores && against !== undefined) throw new UsageError('--against needs --scores.')
}

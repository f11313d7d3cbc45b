import { relative, sep } from 'node:path'
import { headOf } from '../../sources/git/head.ts'
import { type KeptResult, type KeptTestRun, keepRun, readKeptRuns, toKeptResult } from '../../testing/kept-runs.ts'
import { testFileEnd } from '../../testing/test-files.ts'
import { UsageError } from '../command/exit.ts'
import { findDataFolder } from '../connect/project.ts'
import type { PlayedFile } from './report.ts'

export interface KeptScores {
  /** What this run is compared with; undefined for a test that had none then. */
  resultOf(file: string): KeptResult | undefined
  /** Keeps the scores of this run with the commit that the folder is at. */
  keep(played: readonly PlayedFile[]): Promise<void>
}

/** The scores that the data folder keeps. Throws UsageError when `against` is a commit without any. */
export async function openKeptScores(
  { config, data, against }: { config?: string; data?: string; against?: string },
  signal: AbortSignal,
): Promise<KeptScores> {
  const root = process.cwd()
  const folder = await findDataFolder({ ...(config && { config }), ...(data && { data }) })
  const before = earlierRun(await readKeptRuns(folder), against)
  return {
    resultOf: (file) => before?.results.find(({ name }) => name === nameOf(root, file)),
    async keep(played) {
      const { commit = null, changed = false } = (await headOf(root, signal)) ?? {}
      const results = played.map(({ file, outcome }) => toKeptResult(nameOf(root, file), outcome))
      await keepRun(folder, { at: new Date().toISOString(), mode: 'scores', commit, changed, results })
    },
  }
}

function earlierRun(kept: readonly KeptTestRun[], commit: string | undefined): KeptTestRun | undefined {
  const runs = kept.filter(({ mode }) => mode === 'scores')
  if (commit === undefined) return runs[0]
  const found = runs.find((run) => !run.changed && run.commit?.startsWith(commit.toLowerCase()))
  if (found !== undefined) return found
  throw new UsageError(
    `No scores of commit '${commit}' are kept here. Check it out and run \`agentserve test --scores\`.`,
  )
}

/** As the routes of `dev` name a test. */
function nameOf(root: string, file: string): string {
  const path = relative(root, file).split(sep).join('/')
  return path.endsWith(testFileEnd) ? path.slice(0, -testFileEnd.length) : path
}

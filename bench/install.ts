import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformersVersion } from '../src/core/version.ts'
import { type Installation, install, pack } from '../test/support/installation.ts'

const budgets = { packages: 140, megabytes: 310 }

/*
 * What an installation of the packed package brings and takes, in an empty folder with an empty cache, and then the
 * command that adds sentence models. Prints the table of docs/benchmarks.md; ends with 1 when a budget is not kept.
 */
const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
try {
  const tarball = await pack(folder)
  const project = join(folder, 'project')
  const fresh = ['--cache', join(folder, 'cache')]
  const usual = await install(project, [...fresh, tarball])
  const unwanted = usual.packages.filter((name) => /transformers|onnxruntime/.test(name))
  const models = ['--save-exact', '--ignore-scripts', `@huggingface/transformers@${transformersVersion}`]
  const withModels = await install(project, [...fresh, ...models])
  const isKept =
    usual.packages.length <= budgets.packages && usual.megabytes <= budgets.megabytes && unwanted.length === 0
  process.exitCode = isKept ? 0 : 1
  console.log(
    [
      `Measured on ${new Date().toISOString().slice(0, 10)}: ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.version}.\n`,
      '| | packages | MB | seconds |',
      '| --- | --- | --- | --- |',
      row('`npm install` of agentserve', usual),
      row('with `@huggingface/transformers`', withModels),
    ].join('\n'),
  )
} finally {
  await rm(folder, { recursive: true, force: true })
}

function row(name: string, { packages, megabytes, seconds }: Installation): string {
  return `| ${name} | ${packages.length} | ${Math.round(megabytes)} | ${Math.round(seconds)} |`
}

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test, vi } from 'vitest'
import { describeOwnPostgres, describePostgres } from '../../support/postgres/describe-postgres.ts'
import { execute } from '../../support/postgres/places.ts'
import { testPostgres } from '../../support/postgres/test-postgres.ts'
import { root } from '../../support/program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const from = (name: string) => JSON.stringify(pathToFileURL(join(root, 'test/support/postgres', name)).href)

/** What another process prints before it ends. */
function run(lines: string[], ending: 'by itself' | 'killed'): Promise<string> {
  const program = [...lines, ...(ending === 'killed' ? ["process.kill(process.pid, 'SIGKILL')"] : [])].join('\n')
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['--input-type=module', '-e', program], { timeout: 30_000 }, (error, stdout, stderr) => {
      if (error && error.signal !== 'SIGKILL') reject(new Error(stderr))
      else resolve(stdout)
    })
  })
}

describePostgres('the shared Postgres', () => {
  test('is one for all processes of the run, also when they ask at once', async () => {
    const ask = [
      `import { testPostgres } from ${from('test-postgres.ts')}`,
      'const { url, newSchema } = await testPostgres()',
      'console.log(JSON.stringify({ url, schema: newSchema().name }))',
    ]
    const found = (await Promise.all([1, 2, 3].map(() => run(ask, 'by itself')))).map((line) => JSON.parse(line))
    const { url } = await testPostgres()
    expect(found.map((each) => each.url)).toEqual([url, url, url])
    expect(new Set(found.map((each) => each.schema)).size).toBe(3)
  })
})

describeOwnPostgres('a Postgres whose process is killed', () => {
  async function expectGone(said: { url: string; folder: string }): Promise<void> {
    await vi.waitFor(
      async () => {
        await expect(execute(said.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
        expect(existsSync(said.folder)).toBe(false)
      },
      { timeout: 20_000 },
    )
  }

  test('ends and leaves no file, after a restart too', async () => {
    const start = [
      `import { startPostgres } from ${from('server.ts')}`,
      'const { url, folder, restart } = await startPostgres()',
      "await restart('fast')",
      'console.log(JSON.stringify({ url, folder }))',
    ]
    await expectGone(JSON.parse(await run(start, 'killed')))
  })

  test('ends with the run that shares it', async () => {
    await using folder = await temporaryFolder()
    // Postgres does not run as root, and must come to its files.
    await chmod(folder.path, 0o711)
    const start = [
      `import { findSharedPostgres, keepSharedPostgres } from ${from('shared-server.ts')}`,
      `await keepSharedPostgres(${JSON.stringify(join(folder.path, 'postgres'))})`,
      'const { url } = await findSharedPostgres()',
      `console.log(JSON.stringify({ url, folder: ${JSON.stringify(join(folder.path, 'postgres'))} }))`,
    ]
    await expectGone(JSON.parse(await run(start, 'killed')))
  })
})

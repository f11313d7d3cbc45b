import { execFile } from 'node:child_process'
import { relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { root } from '../../support/program.ts'

it('the types of the package are made from src/ alone, not from the tests and what they need', async () => {
  const { stdout } = await promisify(execFile)('tsc', ['-p', 'tsconfig.build.json', '--listFilesOnly'], {
    cwd: root,
    maxBuffer: 16 * 1024 * 1024,
  })
  const own = stdout.split('\n').filter((path) => path.startsWith(root) && !path.includes('/node_modules/'))
  const others = own.map((path) => relative(root, path)).filter((path) => !path.startsWith('src/'))
  expect(own.length).toBeGreaterThan(500)
  expect(others).toEqual(['package.json'])
})

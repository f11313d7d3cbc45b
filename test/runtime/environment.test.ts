import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a variable that a test adds is there for tests and for programs that they start', async () => {
  vi.stubEnv('ADDED_BY_A_TEST', 'yes')
  expect(process.env.ADDED_BY_A_TEST).toBe('yes')
  expect(Object.keys({ ...process.env })).toContain('ADDED_BY_A_TEST')
  const { stdout } = await promisify(execFile)(process.execPath, ['-p', 'process.env.ADDED_BY_A_TEST'])
  expect(stdout).toBe('yes\n')
  vi.unstubAllEnvs()
  expect('ADDED_BY_A_TEST' in process.env).toBe(false)
})

test('native code does not see it, so its list of variables never moves', () => {
  vi.stubEnv('ADDED_BY_A_TEST', 'yes')
  const { environmentVariables } = process.report.getReport() as unknown as {
    environmentVariables: Record<string, string>
  }
  expect(environmentVariables.TMPDIR).toBe(process.env.TMPDIR)
  expect(environmentVariables).not.toHaveProperty('ADDED_BY_A_TEST')
})

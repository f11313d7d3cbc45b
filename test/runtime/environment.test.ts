import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a variable that a test adds is there for JavaScript, until it is taken away', () => {
  vi.stubEnv('ADDED_BY_A_TEST', 'yes')
  expect(process.env.ADDED_BY_A_TEST).toBe('yes')
  expect({ ...process.env }).toMatchObject({ ADDED_BY_A_TEST: 'yes', TMPDIR: process.env.TMPDIR })
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

import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongFirst } from './test/support/long-first.ts'

/** Tests that start programs: they share the machine with them. */
const programs = ['test/e2e/**/*.test.ts', 'test/browser/**/*.test.ts']

const drizzle = ['drizzle-orm', 'drizzle-orm/sqlite-core', 'drizzle-orm/sqlite-proxy']

export default defineConfig({
  test: {
    globalSetup: 'test/support/own-folder.ts',
    pool: 'forks',
    setupFiles: 'test/support/equal-bytes.ts',
    // Bundled once: its hundred modules cost every test file of the store most of a second.
    deps: { optimizer: { ssr: { enabled: true, include: drizzle } } },
    testTimeout: 60_000,
    // A machine that runs other tests too may take its time.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // Files share a process, which has the modules already: what a test changes of it, it changes back.
          isolate: false,
          execArgv: ['--import', new URL('test/support/environment.ts', import.meta.url).href],
          include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
          exclude: [...programs, '**/node_modules/**'],
          // Many wait for Postgres, a disk or a timer: one more than the machine can run at once keeps it busy.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: programs,
          globalSetup: 'test/support/built.ts',
          // Some wait for what must not come, or until an instance is taken for dead: two processors are kept busy by three.
          maxWorkers: 3,
          // Programs, sockets and a browser on a machine that may stand still for a moment. The report names what was repeated.
          retry: process.env.CI ? 1 : 0,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})

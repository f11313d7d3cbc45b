import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take a quarter of a minute and more: none of them may begin when the others are done. What is known of
 * the last run orders the rest, and where nothing is, the size of a file.
 */
const long = [
  'test/e2e/postgres/cluster/chaos.test.ts',
  'test/e2e/documents/guides.test.ts',
  'test/e2e/data/copy-kills.test.ts',
  'test/e2e/sessions/commands.test.ts',
  'test/e2e/knowledge/kills.test.ts',
  'test/e2e/postgres/cluster/knowledge.test.ts',
  'test/e2e/hostile/requests.test.ts',
  'test/e2e/sessions/browser.test.ts',
  'test/browser/studio/large-text.test.ts',
  'test/browser/studio/tests-tab.test.ts',
  'test/browser/studio/new-user.test.ts',
  'test/browser/studio/sessions.test.ts',
  'test/e2e/knowledge/gone.test.ts',
  'test/browser/studio/replay.test.ts',
  'test/e2e/documents/install.test.ts',
  'test/browser/studio/again.test.ts',
  'test/e2e/runs/crash.test.ts',
  'test/e2e/knowledge/crawl.test.ts',
  'test/api/hostile-fields.test.ts',
  'test/store/sessions/postgres/cluster/cluster.test.ts',
  'test/store/sessions/postgres/store.test.ts',
  'test/store/cached/cached-store.test.ts',
  'test/store/sessions/sqlite/store.test.ts',
]

const root = resolve(import.meta.dirname, '../..')

/** For the order of test files. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const gone = long.filter((path) => !existsSync(resolve(root, path)))
    if (gone.length > 0)
      throw new Error(`test/support/long-first.ts names files that are not there: ${gone.join(', ')}`)
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = long.findIndex((path) => moduleId.endsWith(path))
      return place === -1 ? long.length : place
    }
    return (await super.sort(files)).toSorted((one, two) => placeOf(one) - placeOf(two))
  }
}

import { afterEach, beforeEach, describe } from 'vitest'
import type { SessionStore } from '../../src/core/store.ts'
import { testAnswers } from './session-store/answers.ts'
import { testAudit } from './session-store/audit.ts'
import { testBookmarks } from './session-store/bookmarks.ts'
import { testBranches } from './session-store/branches.ts'
import { testClaims } from './session-store/claims.ts'
import { testCopies } from './session-store/copies.ts'
import { testErasing } from './session-store/erasing.ts'
import { testEvents } from './session-store/events.ts'
import { testFacts } from './session-store/facts.ts'
import { testFiles } from './session-store/files.ts'
import { testGiven } from './session-store/given.ts'
import { testHandovers } from './session-store/handovers.ts'
import { testHistory } from './session-store/history.ts'
import { testHostile } from './session-store/hostile.ts'
import { testLifecycle } from './session-store/lifecycle.ts'
import { testOwners } from './session-store/owners.ts'
import { testPush } from './session-store/push.ts'
import { testKeptTries } from './session-store/record/kept-tries.ts'
import { testOverviews } from './session-store/record/overviews.ts'
import { testTries } from './session-store/record/tries.ts'
import { testUsage } from './session-store/record/usage.ts'
import { testRecovery } from './session-store/recovery.ts'
import { testResume } from './session-store/resume.ts'
import { testRetention } from './session-store/retention.ts'
import { testRuns } from './session-store/runs.ts'
import { testSchedules } from './session-store/schedules.ts'
import { testSearch } from './session-store/search.ts'
import { testSessions } from './session-store/sessions.ts'
import { testSummaries } from './session-store/summaries.ts'
import { testTurns } from './session-store/turns.ts'
import { testWebhooks } from './session-store/webhooks.ts'
import { testWithheld } from './session-store/withheld.ts'

/** What every driver of the port must do. `create` gives a new, empty store that is not open yet. */
export function testSessionStore(name: string, create: () => SessionStore | Promise<SessionStore>): void {
  describe(`session store: ${name}`, () => {
    let present: SessionStore
    beforeEach(async () => {
      present = await create()
      await present.open()
    })
    afterEach(() => present.close())
    const store = () => present
    testLifecycle(store)
    testSessions(store)
    testOwners(store)
    testHandovers(store)
    testRuns(store)
    testEvents(store)
    testHistory(store)
    testSummaries(store)
    testAnswers(store)
    testClaims(store)
    testBookmarks(store)
    testPush(store)
    testFacts(store)
    testSchedules(store)
    testWebhooks(store)
    testAudit(store)
    testRecovery(store)
    testResume(store)
    testRetention(store)
    testSearch(store)
    testCopies(store)
    testErasing(store)
    testFiles(store)
    testHostile(store)
    testWithheld(store)
    testTurns(store)
    testBranches(store)
    testGiven(store)
    testTries(store)
    testKeptTries(store)
    testUsage(store)
    testOverviews(store)
  })
}

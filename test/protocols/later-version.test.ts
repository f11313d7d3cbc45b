import { expect, test } from 'vitest'
import { Transcript } from '../../src/cli/browse/transcript.ts'
import { showEvent } from '../../src/cli/runs/activity.ts'
import { createRunWriter } from '../../src/cli/runs/writer.ts'
import { isKnownType, type RunEvent } from '../../src/core/event.ts'
import { RunFold } from '../../src/core/events/fold.ts'
import { RunSteps } from '../../src/core/steps/steps.ts'
import { graphOfRun } from '../../src/studio/agents/graph-of.ts'
import type { RunEvent as SentEvent } from '../../src/wire/event.ts'
import { laterRun } from '../support/later-version.ts'
import { projections } from './recorded-streams.ts'

/* What is made of the events of a later version: the same as of those that are known. */

/** Something that folds events one by one. */
function folded<Fold extends { add(event: SentEvent): unknown }>(fold: Fold, events: readonly RunEvent[]): Fold {
  for (const event of events) fold.add(event as SentEvent)
  return fold
}

const readers: Record<string, (events: readonly RunEvent[]) => unknown> = {
  fold(events) {
    const fold = new RunFold()
    fold.addRecorded(events)
    return fold
  },
  'steps of the studio'(events) {
    const { steps, durationMs, pauses, status } = folded(new RunSteps(), events)
    return { steps, durationMs, pauses, status }
  },
  'answer of the studio'(events) {
    const { parts, reasoning, sources, exchanges } = folded(new RunSteps(), events)
    return { parts, reasoning, sources, exchanges }
  },
  'graph of the studio': (events) => graphOfRun('docs', events as SentEvent[], String),
  'lines of the terminal'(events) {
    const writer = createRunWriter()
    return events.map((event) => writer.toText(event)).join('')
  },
  'activity of the terminal': (events) => events.flatMap((event) => showEvent(event) ?? []),
  'transcript of the terminal'(events) {
    const transcript = new Transcript('Hello', 'docs')
    for (const event of events) transcript.add(event)
    return Array.from({ length: transcript.length }, (_, place) => transcript.entry(place))
  },
}
for (const [name, projectionOf] of Object.entries(projections))
  readers[name] = (events) => {
    const projection = projectionOf(laterRun.run)
    return events
      .flatMap((event) => projection.add(event as Parameters<typeof projection.add>[0]))
      .filter((text) => text !== '')
  }

test.for(Object.entries(readers))('the %s leaves out what it does not know', ([, read]) => {
  const known = laterRun.events.filter(({ type }) => isKnownType(type))
  expect(known.length).toBeLessThan(laterRun.events.length)
  expect(read(laterRun.events)).toEqual(read(known))
})

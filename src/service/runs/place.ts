import type { RunExecution } from '../execution/execution.ts'
import type { RunPlace } from './run-services.ts'

/** Where the spans of a run belong. */
export function placeOf(execution: RunExecution): RunPlace {
  const { firstSeq, parent } = execution
  let outermost = execution
  while (outermost.parent !== undefined) outermost = outermost.parent
  return { firstSeq, outer: parent && { firstSeq: parent.firstSeq }, outermost: outermost.run }
}

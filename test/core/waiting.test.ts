import { expect, test } from 'vitest'
import type { InputRequired } from '../../src/core/event.ts'
import { answerForChild } from '../../src/core/waiting.ts'

test("an answer to the parent's own call is not for a child whose id that call has in front", () => {
  const asked: InputRequired[] = [
    { type: 'input_required', call_id: 'run_1/read', child_run_id: 'run_1', prompt: 'Read?' },
    { type: 'input_required', call_id: 'run_1/delete', prompt: 'Delete?' },
  ]
  const answers = { 'run_1/read': { approved: false }, 'run_1/delete': { approved: true } }
  expect(answerForChild('run_1', { answers }, asked).answers).toEqual({ read: { approved: false } })
})

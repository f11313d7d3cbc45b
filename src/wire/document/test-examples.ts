import { question } from './knowledge-examples.ts'
import { answer, at, sessionId, usage } from './shared-values.ts'

const testResult = {
  name: 'test/request-size',
  passed: true,
  flaky: false,
  passes: 1,
  times: 1,
  score: null,
  score_by_scorer: {},
  usage,
  cost: null,
  duration_ms: 41,
}

/** Of the shapes of a project's saved tests. */
export const testExamples: Record<string, unknown> = {
  SavedTest: {
    agentserve: 'session-test/1',
    entity: 'docs',
    tools: 'recorded',
    turns: [
      {
        input: [{ type: 'text', text: question }],
        model_calls: [{ prompt_hash: 'q0m3Yb1f2cX9sKp7Vd5nTw', text: answer, finish_reason: 'stop', usage }],
        expect: { status: 'completed', content: answer, tool_calls: [] },
      },
    ],
  },
  SaveTestRequest: { session_id: sessionId, name: 'request-size' },
  ProjectTest: { name: 'test/request-size', entity: 'docs', turns: 1, problem: null },
  ProjectTestList: { tests: [{ name: 'test/request-size', entity: 'docs', turns: 1, problem: null }] },
  RunTestsRequest: { names: ['test/request-size'] },
  TestEvent: {
    type: 'result',
    differences: [],
    notes: [],
    problem: null,
    updated: false,
    scores: [],
    judge_usage: null,
    ...testResult,
  },
  KeptTestRuns: {
    runs: [{ at, mode: 'replay', commit: '3f0c1a9be2d4', changed: false, results: [testResult] }],
  },
}

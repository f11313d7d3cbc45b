export type { UserConfig } from '../config/types.ts'
export type { RunEvent } from '../core/event.ts'
export type { Part } from '../core/message.ts'
export type {
  AnswerToScore,
  DeclaredScorer,
  Scored,
  Scorer,
  ScorerFunction,
} from '../core/scoring/scorer.ts'
export { type Difference, type PlayedTest, playSavedTest } from './play.ts'
export {
  openProject,
  type ProjectOptions,
  type RunOptions,
  type RunResult,
  run,
  type TestAnswer,
  type TestInput,
  type TestProject,
  type TestToolCall,
} from './project.ts'
export { type RecordedModelSettings, recordedModel } from './recorded-model.ts'
export { parseSavedTest, type RunToSave, type SavedTest, toSavedTest } from './saved-test.ts'
export { type ScoredTest, scoreSavedTest } from './score-test.ts'
export type { TurnScore } from './scores.ts'
export {
  type ModelCall,
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  scriptedModel,
} from './scripted-model.ts'
export type { PlayOptions } from './turns.ts'

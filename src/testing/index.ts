export type { UserConfig } from '../config/types.ts'
export type { RunEvent } from '../core/event.ts'
export type { Part } from '../core/message.ts'
export { type Difference, type PlayedTest, type PlayOptions, playSavedTest } from './play.ts'
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
export {
  type ModelCall,
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  scriptedModel,
} from './scripted-model.ts'

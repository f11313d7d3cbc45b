import { expect, it } from 'vitest'
import { wayToModel } from '../../../src/cli/welcome/model-line.ts'

const key = { evidence: 'OPENAI_API_KEY is set', write: "model: 'openai/x'", install: 'npm install @ai-sdk/openai' }

it('is one line to paste where there is no config', () => {
  expect(wayToModel(undefined, undefined)).toBe(
    'For a real model, run this and start again:\necho "export default { model: \'ollama/qwen3:8b\' }" > agent.config.ts',
  )
  expect(wayToModel(key, undefined)).toBe(
    'OPENAI_API_KEY is set. To use it, run this and start again:\nnpm install @ai-sdk/openai && echo "export default { model: \'openai/x\' }" > agent.config.ts',
  )
})

it('is one line to write into the config', () => {
  expect(wayToModel(undefined, 'agent.config.ts')).toBe(
    "For a real model, write this in agent.config.ts and start again:\nmodel: 'ollama/qwen3:8b',",
  )
  expect(wayToModel(key, 'agent.config.ts')).toBe(
    "OPENAI_API_KEY is set. To use it, run npm install @ai-sdk/openai and write this in agent.config.ts and start again:\nmodel: 'openai/x',",
  )
})

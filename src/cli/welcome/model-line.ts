import type { FoundModel } from '../../server/served/models.ts'

/** One that many have, for whoever has none yet. */
const example = "model: 'ollama/qwen3:8b'"

/** How an agent without a model gets one: what to run or to write, on one line that can be pasted. */
export function wayToModel(found: FoundModel | undefined, configFile: string | undefined): string {
  const { evidence, install, write } = found ?? { evidence: undefined, install: undefined, write: example }
  const why = evidence === undefined ? 'For a real model' : `${evidence}. To use it`
  const steps = [
    ...(install === undefined ? [] : [install]),
    ...(configFile === undefined ? [`echo "export default { ${write} }" > agent.config.ts`] : []),
  ]
  const command = steps.join(' && ')
  if (configFile === undefined) return `${why}, run this and start again:\n${command}`
  return `${why}, ${command === '' ? '' : `run ${command} and `}write this in ${configFile} and start again:\n${write},`
}

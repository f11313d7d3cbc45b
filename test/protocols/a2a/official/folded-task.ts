import { expect } from 'vitest'

// biome-ignore lint/suspicious/noExplicitAny: frames of every shape are looked into
export function results(stream: string): any[] {
  return stream
    .split('\n\n')
    .filter(Boolean)
    .map((frame) => JSON.parse(frame.replace(/^data: /, '')))
    .map((message) => {
      expect(message).toMatchObject({ jsonrpc: '2.0', id: 7 })
      return message.result
    })
}

/** The task that a client of either version has after the stream. */
export function foldedTask(stream: string) {
  const [first, ...updates] = results(stream)
  const task = structuredClone(first.task ?? first)
  for (const update of updates) {
    const { status } = update.statusUpdate ?? update
    const { artifact, append } = update.artifactUpdate ?? update
    if (status !== undefined) task.status = status
    if (artifact === undefined) continue
    if (append) task.artifacts[0].parts.push(...artifact.parts)
    else task.artifacts = [structuredClone(artifact)]
    if (artifact.metadata) task.artifacts[0].metadata = artifact.metadata
  }
  return withJoinedTexts(task)
}

// biome-ignore lint/suspicious/noExplicitAny: it is made of frames
function withJoinedTexts(task: any) {
  for (const artifact of task.artifacts ?? []) {
    const parts: { text?: string }[] = []
    for (const part of artifact.parts) {
      const last = parts.at(-1)
      if (part.text === '') continue
      if (part.text !== undefined && last?.text !== undefined) last.text += part.text
      else parts.push({ ...part })
    }
    artifact.parts = parts
  }
  return task
}

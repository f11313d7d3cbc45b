import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { FilePart } from '../../../src/core/message.ts'
import type { RunContext } from '../../../src/core/runnable.ts'
import { ModelFiles, referenceTo } from '../../../src/runnables/files/model-files.ts'

const gone: FilePart = { type: 'file', media_type: 'image/png', name: 'a.png', file_id: 'file_gone', size: 3 }
const read = () => Promise.reject(new AppError('file_not_found', 'There is no file.'))

function opened(): ModelFiles {
  const context = { files: { read }, signal: new AbortController().signal, runId: 'run_2' }
  return new ModelFiles(context as unknown as RunContext, { isOn: false } as never)
}

test('a file of an earlier turn that is gone is told to the model, and one of the input fails the run', async () => {
  const files = opened()
  const text = "[The file 'a.png' can't be read: There is no file.]"
  expect(await files.toSdk(gone, 'run_1')).toEqual({ type: 'text', text })
  await expect(files.toSdk(gone)).rejects.toMatchObject({ code: 'file_not_found' })
})

test('a checkpoint whose file is gone is continued without it', async () => {
  const part = { type: 'file' as const, mediaType: 'image/png', data: referenceTo(gone) }
  const [message] = await opened().restore([{ role: 'user', content: [part] }] as never)
  expect(message?.content).toEqual([{ type: 'text', text: "[The file 'file_gone' can't be read: There is no file.]" }])
})

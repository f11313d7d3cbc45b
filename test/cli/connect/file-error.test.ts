import { expect, test } from 'vitest'
import { toReadError, toWriteError } from '../../../src/cli/connect/file-error.ts'
import { AppError } from '../../../src/core/error.ts'

const failure = (code: string) => Object.assign(new Error(`${code}: as the system says it`), { code })

test.each([
  ['ENOENT', "There is no file 'a.jsonl'. Name a file that `agentserve sessions export` wrote."],
  ['ENOTDIR', "There is no file 'a.jsonl'. Name a file that `agentserve sessions export` wrote."],
  ['EISDIR', "'a.jsonl' is a folder. Name a file."],
  ['EACCES', "No permission to read 'a.jsonl'. Change its permissions, or name another file."],
  ['EIO', "'a.jsonl' can't be read: EIO."],
])('of a file that is to be read, %s says what is wrong', (code, message) => {
  expect(toReadError(failure(code), 'a.jsonl')).toMatchObject({ code: 'invalid_request', message })
})

test.each([
  ['EEXIST', 'conflict', 'a.jsonl already exists. Name another file, or delete this one.'],
  ['ENOENT', 'invalid_request', "The folder of 'a.jsonl' does not exist. Create it, or name another file."],
  [
    'EACCES',
    'invalid_request',
    "No permission to write 'a.jsonl'. Change the permissions of its folder, or name another file.",
  ],
  ['ENOSPC', 'invalid_request', "'a.jsonl' can't be written: ENOSPC."],
] as const)('of a file that is to be made, %s says what is wrong', (code, kind, message) => {
  expect(toWriteError(failure(code), 'a.jsonl')).toMatchObject({ code: kind, message })
})

test('errors that are not about the file stay as they are', () => {
  for (const error of [new AppError('unavailable', 'x'), new Error('x'), failure('ERR_STREAM_DESTROYED')]) {
    expect([toReadError(error, 'a'), toWriteError(error, 'a')]).toEqual([error, error])
  }
})

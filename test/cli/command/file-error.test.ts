import { expect, test } from 'vitest'
import { toFolderError, toReadError, toWriteError } from '../../../src/cli/command/file-error.ts'
import { AppError } from '../../../src/core/error.ts'

const failure = (code: string) => Object.assign(new Error(`${code}: as the system says it`), { code })

test.each([
  ['ENOENT', "There is no file 'a.jsonl'. Name a file that `agentserve sessions export` wrote."],
  ['ENOTDIR', "There is no file 'a.jsonl'. Name a file that `agentserve sessions export` wrote."],
  ['EISDIR', "'a.jsonl' is a folder. Name a file."],
  ['EACCES', "No permission to read 'a.jsonl'. Change its permissions, or name another file."],
  ['EIO', "'a.jsonl' can't be read: EIO.", 'unavailable'],
])('of a file that is to be read, %s says what is wrong', (code, message, kind = 'invalid_request') => {
  expect(toReadError(failure(code), 'a.jsonl')).toMatchObject({ code: kind, message })
})

test.each([
  ['EEXIST', 'conflict', 'a.jsonl already exists. Name another file, or delete this one.'],
  ['ENOENT', 'invalid_request', "The folder of 'a.jsonl' does not exist. Create it, or name another file."],
  [
    'EACCES',
    'invalid_request',
    "No permission to write 'a.jsonl'. Change the permissions of its folder, or name another file.",
  ],
  ['ENOSPC', 'storage_full', "The disk of 'a.jsonl' is full. Free some space, or name another place."],
  ['EIO', 'unavailable', "'a.jsonl' can't be written: EIO."],
] as const)('of a file that is to be made, %s says what is wrong', (code, kind, message) => {
  expect(toWriteError(failure(code), 'a.jsonl')).toMatchObject({ code: kind, message })
})

const noFolder = "'new' is no folder: a file has its name, or that of a folder above it. Name another."
const noPermission = "No permission to write to 'new'. Change its permissions, or name another folder."

test.each([
  ['EEXIST', noFolder],
  ['ENOTDIR', noFolder],
  ['EACCES', noPermission],
  ['EROFS', noPermission],
  ['ENOSPC', "The disk of 'new' is full. Free some space, or name another place.", 'storage_full'],
  ['EDQUOT', "The disk of 'new' is full. Free some space, or name another place.", 'storage_full'],
  ['EIO', "'new' can't be written: EIO.", 'unavailable'],
])('of a folder that is to be filled, %s says what is wrong', (code, message, kind = 'invalid_request') => {
  expect(toFolderError(failure(code), 'new')).toMatchObject({ code: kind, message })
})

test('errors that are not about the file stay as they are', () => {
  for (const error of [new AppError('unavailable', 'x'), new Error('x'), failure('ERR_STREAM_DESTROYED')]) {
    expect([toReadError(error, 'a'), toWriteError(error, 'a'), toFolderError(error, 'a')]).toEqual([
      error,
      error,
      error,
    ])
  }
})

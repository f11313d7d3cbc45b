import { expect, test } from 'vitest'
import { toReadError, toWriteError } from '../../../src/cli/connect/file-error.ts'
import { AppError } from '../../../src/core/error.ts'

const failure = (code: string) => Object.assign(new Error(`${code}: as the system says it`), { code })

test.each([
  ['ENOENT', "There is no file 'a.jsonl': name one that `agentserve sessions export` wrote."],
  ['ENOTDIR', "There is no file 'a.jsonl': name one that `agentserve sessions export` wrote."],
  ['EISDIR', "'a.jsonl' is a folder: name a file in it."],
  ['EACCES', "You may not read 'a.jsonl': change its permissions, or name another file."],
  ['EIO', "'a.jsonl' can't be read: EIO."],
])('of a file that is to be read, %s says what is wrong', (code, message) => {
  expect(toReadError(failure(code), 'a.jsonl')).toMatchObject({ code: 'invalid_request', message })
})

test.each([
  ['EEXIST', 'conflict', 'a.jsonl is there already: name another file, or delete it.'],
  ['ENOENT', 'invalid_request', "There is no folder for 'a.jsonl': make it, or name another file."],
  ['EACCES', 'invalid_request', "You may not write 'a.jsonl': change its folder's permissions, or name another file."],
  ['ENOSPC', 'invalid_request', "'a.jsonl' can't be written: ENOSPC."],
] as const)('of a file that is to be made, %s says what is wrong', (code, kind, message) => {
  expect(toWriteError(failure(code), 'a.jsonl')).toMatchObject({ code: kind, message })
})

test('errors that are not about the file stay as they are', () => {
  for (const error of [new AppError('unavailable', 'x'), new Error('x'), failure('ERR_STREAM_DESTROYED')]) {
    expect([toReadError(error, 'a'), toWriteError(error, 'a')]).toEqual([error, error])
  }
})

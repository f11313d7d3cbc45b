import { expect, test } from 'vitest'
import * as page from '../../src/client/transport/error-code.page.ts'
import * as client from '../../src/client/transport/error-code.ts'
import { mayRepeat } from '../../src/client/transport/retry.ts'
import { AppError } from '../../src/core/error.ts'

test('the studio repeats a request after the same statuses as the client', () => {
  const repeated = (codeOfStatus: typeof client.codeOfStatus) =>
    Array.from({ length: 200 }, (_, at) => 400 + at).filter((status) =>
      mayRepeat(new AppError(codeOfStatus(status), 'no'), 'safe'),
    )
  expect(repeated(page.codeOfStatus)).toEqual(repeated(client.codeOfStatus))
  expect(repeated(page.codeOfStatus)).toEqual([408, 429, 502, 503])
})

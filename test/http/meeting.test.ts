import { expect, test } from 'vitest'
import { findMeeting, type RouteGroup } from '../../src/http/meeting.ts'

const group = (setting: string, ...routes: string[]): RouteGroup => ({
  setting,
  routes: routes.map((route) => {
    const [method, path] = route.split(' ') as ['GET', string]
    return { method, path }
  }),
})

test.for([
  ['the same path', 'GET /a/b', 'GET /a/b'],
  ['the same path with another method', 'GET /a/b', 'POST /a/b'],
  ['parameters of another name', 'GET /a/:id/c', 'GET /a/:name/c'],
  ['parameters of another name and method', 'GET /a/:id', 'DELETE /a/:name'],
  ['a name in place of a parameter', 'GET /a/:id', 'GET /a/b'],
  ['a parameter in place of a name', 'GET /a/b/:c', 'GET /a/:b/c'],
  ['a path below one that takes the rest', 'GET /v1/models/**:model', 'GET /v1/models/x/y'],
  ['a parameter below one that takes the rest', 'GET /v1/models/**:model', 'GET /v1/:kind/:id'],
  ['an escaped character', 'POST /a/:id/message\\:send', 'POST /a/b/message\\:send'],
  ['the root', 'GET /', 'GET /'],
] as const)('meets with %s', ([_, one, other]) => {
  const paths = [one, other].map((route) => route.split(' ')[1])
  expect(findMeeting([group('a', one), group('b', other)])).toEqual({ settings: ['a', 'b'], paths })
  expect(findMeeting([group('a', one), group('a', other)])).toBeUndefined()
})

test.for([
  ['other names', 'GET /a/b', 'GET /a/c'],
  ['another length', 'GET /a/b', 'GET /a/b/c'],
  ['a name in place of a parameter, with another method', 'POST /a/:id', 'GET /a/b'],
  ['what takes the rest, without a rest', 'GET /v1/models/**:model', 'GET /v1/models'],
  ['what answers only where nothing else does', 'GET /v1/**', 'GET /v1/models'],
  ['a name that begins like a parameter', 'POST /a/\\:id', 'POST /a/b'],
] as const)('does not meet with %s', ([_, one, other]) => {
  expect(findMeeting([group('a', one), group('b', other)])).toBeUndefined()
  expect(findMeeting([group('b', other), group('a', one)])).toBeUndefined()
})

import { expect, test } from 'vitest'
import { isNavigation } from '../../src/http/navigation.ts'

const chrome = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

test.each([
  ['GET', { 'sec-fetch-mode': 'navigate', accept: '*/*' }],
  ['POST', { 'sec-fetch-mode': 'navigate' }],
  ['GET', { accept: chrome }],
  ['HEAD', { accept: 'text/html' }],
  ['GET', { accept: ' TEXT/HTML; q=1, */*' }],
])('a browser that navigates: %s %j', (method, headers) => {
  expect(isNavigation(method, headers)).toBe(true)
})

test.each([
  ['GET', {}],
  ['GET', { accept: '*/*' }],
  ['GET', { accept: 'application/json' }],
  ['GET', { accept: 'application/json, text/html' }],
  ['GET', { accept: '*/*, text/html' }],
  ['GET', { accept: 'text/htmlish' }],
  ['GET', { accept: 'text/event-stream' }],
  ['POST', { accept: chrome }],
  ['GET', { accept: chrome, 'sec-fetch-mode': 'cors' }],
  ['GET', { accept: chrome, 'sec-fetch-mode': 'no-cors' }],
])('no navigation: %s %j', (method, headers) => {
  expect(isNavigation(method, headers)).toBe(false)
})

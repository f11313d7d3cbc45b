import { expect, it } from 'vitest'
import { parseRobots } from '../../../src/sources/web/robots.ts'

const at = (path: string) => new URL(path, 'https://host.test')
const allows = (text: string, path: string) => parseRobots(text, 'agentserve').allows(at(path))

it.each([
  ['nothing is said', '', '/a', true],
  ['a path is not allowed', 'User-agent: *\nDisallow: /a', '/ab', false],
  ['the longest rule counts, not the first', 'User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b/c', true],
  ['of two rules as long, the one that allows counts', 'User-agent: *\nDisallow: /a\nAllow: /a', '/a', true],
  ['an empty rule forbids nothing', 'User-agent: *\nDisallow:', '/a', true],
  ['a star is any text', 'User-agent: *\nDisallow: /*/secret', '/a/b/secret/c', false],
  ['a star may be nothing', 'User-agent: *\nDisallow: /a*b', '/ab', false],
  ['a dollar sign is the end', 'User-agent: *\nDisallow: /*.php$', '/a.php', false],
  ['behind the end nothing matches', 'User-agent: *\nDisallow: /*.php$', '/a.php?b', true],
  ['the query counts', 'User-agent: *\nDisallow: /*?sort=', '/a?sort=b', false],
  ['its own group counts alone', 'User-agent: *\nDisallow: /\nUser-agent: AgentServe/9\nDisallow: /b', '/a', true],
  [
    'groups of one name are one',
    'User-agent: agentserve\nDisallow: /a\n\nUser-agent: agentserve\nDisallow: /b',
    '/a',
    false,
  ],
  ['names in a row share their rules', 'User-agent: other\nUser-agent: agentserve\nDisallow: /a', '/a', false],
  ['rules before a group are nobody’s', 'Disallow: /\nUser-agent: other\nDisallow: /', '/a', true],
  ['comments and line ends do not matter', '\ufeffuser-agent : * # all\r\nDISALLOW: /a # not this', '/a', false],
  ['letters may be written with percent signs', 'User-agent: *\nDisallow: /caf%c3%a9', '/café', false],
  ['letters may be written as they are', 'User-agent: *\nDisallow: /café', '/caf%C3%A9', false],
  ['robots.txt itself is always allowed', 'User-agent: *\nDisallow: /', '/robots.txt', true],
])('when %s', (_name, text, path, expected) => {
  expect(allows(text, path)).toBe(expected)
})

it('reads the delay of its group and the sitemaps of all', () => {
  const text =
    'User-agent: *\nCrawl-delay: 9\nSitemap: https://host.test/a.xml\nUser-agent: agentserve\nCrawl-delay: 1.5'
  expect(parseRobots(text, 'agentserve')).toMatchObject({ delayMs: 1500, sitemaps: ['https://host.test/a.xml'] })
  expect(parseRobots(text, 'other').delayMs).toBe(9000)
})

it('takes little time for rules that were made to take long', () => {
  const hostile = `User-agent: *\n${`Disallow: /${'a*'.repeat(800)}b\n`.repeat(50)}`
  const begunMs = performance.now()
  expect(allows(hostile, `/${'a'.repeat(1_900)}`)).toBe(true)
  expect(performance.now() - begunMs).toBeLessThan(3_000)
})

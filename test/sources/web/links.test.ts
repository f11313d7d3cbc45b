import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { headerFacts, readFacts } from '../../../src/sources/web/links.ts'
import { siteOf } from '../../../src/sources/web/site.ts'
import { readLlmsTxt, readSitemap } from '../../../src/sources/web/sitemap.ts'

const address = new URL('https://host.test/docs/a')
const facts = (html: string, headers: Record<string, string> = {}) =>
  readFacts(Buffer.from(html), address, (name) => headers[name])

it('finds the links of a page by its base, and leaves out those not to follow', async () => {
  const { links } = await facts(`<base href="/other/"><base href="/third/">
    <a href="b">1</a><a href=' c?d=1&amp;e=2#f '>2</a><area href="/g"><a href="h" rel="external nofollow">3</a>
    <a href="mailto:x@host.test">4</a><a href="javascript:alert(1)">5</a><a href="http://[bad">6</a><a>7</a>
    <meta http-equiv="refresh" content="0; URL='next'"><script>"<a href='/not'>"</script><!-- <a href="/nor"> -->`)
  expect(links.map((link) => link.replace('https://host.test', ''))).toEqual([
    '/other/b',
    '/other/c?d=1&e=2#f',
    '/g',
    '/other/next',
  ])
})

it('obeys robots of the page and of its headers, and knows its canonical address', async () => {
  const said = await facts(
    '<META NAME="Robots" CONTENT="NOINDEX, nofollow"><a href="/b">b</a><link rel="canonical" href="/c">',
  )
  expect(said).toEqual({ links: [], canonical: 'https://host.test/c', noindex: true, nofollow: true })
  expect(await facts('<meta name="other" content="noindex"><a href="b">')).toMatchObject({ noindex: false })
  const header = (name: string) =>
    ({ 'x-robots-tag': 'other: noindex, nofollow', link: '</n>; rel=next, </d>; rel="x canonical"' })[name]
  expect(headerFacts(address, header)).toMatchObject({ noindex: false, canonical: 'https://host.test/d' })
  expect(headerFacts(address, () => 'other: nofollow, agentserve: none')).toMatchObject({
    noindex: true,
    nofollow: true,
  })
})

it('reads a page of any depth in time that grows with its length', async () => {
  const begunMs = performance.now()
  const { links } = await facts(`${'<div><b '.repeat(300_000)}${'<a href=x>'.repeat(10)}`)
  expect(links.length).toBeLessThan(2)
  expect(performance.now() - begunMs).toBeLessThan(5_000)
})

it('stays in one site, whatever an address looks like', () => {
  const site = siteOf('https://www.host.test/start')
  const page = (link: string) => site.page(link, address)?.href
  expect(page('b#c')).toBe('https://host.test/docs/b')
  expect(page('http://www.host.test/a?')).toBe('https://www.host.test/a')
  expect(page('//ann:secret@host.test:443/a')).toBe('https://host.test/a')
  for (const other of [
    '//other.test',
    '//host.test.other.test',
    '//host.test:444/',
    'file:///etc/passwd',
    'a.png',
    'a.zip?b',
  ])
    expect(page(other)).toBeUndefined()
  expect(page(`/${'a'.repeat(3_000)}`)).toBeUndefined()
  expect(siteOf('http://host.test').page('https://host.test/a')?.href).toBe('https://host.test/a')
})

it('reads sitemaps and indexes, gzipped ones and lists, and no other addresses in them', async () => {
  const xml = `<?xml version="1.0"?><urlset xmlns:image="x"><url><loc> https://host.test/a?b=1&amp;c=2
    </loc><image:image><image:loc>https://host.test/i</image:loc></image:image></url><url><loc><![CDATA[https://host.test/d]]></loc></url></urlset>`
  const pages = ['https://host.test/a?b=1&c=2', 'https://host.test/d']
  expect(await readSitemap(Buffer.from(xml), 'x')).toEqual({ pages, sitemaps: [] })
  expect(await readSitemap(gzipSync(xml), 'x')).toEqual({ pages, sitemaps: [] })
  const index = '<sitemapindex><sitemap><loc>https://host.test/1.xml.gz</loc></sitemap></sitemapindex>'
  expect(await readSitemap(Buffer.from(index), 'x')).toEqual({ pages: [], sitemaps: ['https://host.test/1.xml.gz'] })
  expect((await readSitemap(Buffer.from('https://host.test/a\nnone\r\n'), 'x')).pages).toEqual(['https://host.test/a'])
})

it('refuses a sitemap that unpacks to too much or is damaged, and expands no entities', async () => {
  await expect(readSitemap(gzipSync(Buffer.alloc(60_000_000)), 'https://x')).rejects.toThrow(
    'https://x unpacks to more than 52 MB',
  )
  await expect(readSitemap(gzipSync('a').subarray(0, 15), 'https://x')).rejects.toThrow('damaged')
  const bomb =
    '<!DOCTYPE u [<!ENTITY a "https://host.test/"><!ENTITY b "&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>'
  expect((await readSitemap(Buffer.from(bomb), 'x')).pages.join()).not.toContain('host.test')
})

it('finds the links of an llms.txt', () => {
  const text =
    '# Tides\n> See https://host.test/bare\n- [High](/high.md "t"): when\n- [Low](<low.md>)\n- [](x) [no link]\n'
  expect(readLlmsTxt(text)).toEqual(['https://host.test/bare', '/high.md', 'low.md', 'x'])
})

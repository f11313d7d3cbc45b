import { describe, expect, it } from 'vitest'
import { readers } from '../../src/knowledge/readers/all.ts'

describe('readers', () => {
  it('are found by media type, then by the name, and text is text', async () => {
    const reader = async (name: string | undefined, mediaType?: string) =>
      (await readers.read({ content: '<p>a</p>', name, mediaType })).reader
    expect(await reader('a.md', 'text/html; charset=utf-8')).toBe('html')
    expect(await reader('a.md', 'application/octet-stream')).toBe('markdown')
    expect(await reader('A.MD', 'text/plain')).toBe('markdown')
    expect(await reader('a.ts')).toBe('code')
    expect(await reader('a.ts', 'video/mp2t')).toBe('code')
    expect(await reader('data.json')).toBe('data')
    expect(await reader(undefined)).toBe('text')
    expect(await reader('LICENSE', 'text/x-unknown')).toBe('text')
    await expect(reader('a.bin', 'image/png')).rejects.toMatchObject({ code: 'unreadable_document' })
  })

  it('keep the lines of a Markdown file and begin after its front matter', async () => {
    const content = '---\r\ntitle: "A: b"\r\ntags: [x]\r\n---\r\n# Heading\n'
    const read = await readers.read({ content, name: 'a.md' })
    expect(read.text).toBe(content)
    expect(read.text.slice(read.start)).toBe('# Heading\n')
    expect(read.metadata).toMatchObject({ title: 'A: b', front_matter: { title: 'A: b', tags: ['x'] } })
  })

  it('keep front matter that is no YAML as text, and a rule is no front matter', async () => {
    expect((await readers.read({ content: '---\na: [b\n---\ntext', name: 'a.md' })).metadata.front_matter).toBe('a: [b')
    expect((await readers.read({ content: 'text\n\n---\n\nmore', name: 'a.md' })).start).toBe(0)
    const bomb = `---\na: &a [x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c]\n---\ntext`
    expect(typeof (await readers.read({ content: bomb, name: 'a.md' })).metadata.front_matter).toBe('string')
  })

  it('make Markdown of what a page is about', async () => {
    const html = `<html lang="de"><head><title> T &amp; t </title></head><body><nav>menu</nav><article><h1>One</h1>
      <p>Text with <code>code</code>.</p><pre><code>let a = 1
let b</code></pre><table><tr><th>k</th><th>v</th></tr><tr><td>a|b</td><td>2</td></tr></table>
      <img src="x" alt="a picture"><script>bad()</script></article></body></html>`
    const { text, metadata, chunker } = await readers.read({ content: html, name: 'a.html' })
    expect(metadata).toMatchObject({ title: 'T & t', language: 'de' })
    expect(chunker).toBe('markdown')
    expect(text).toContain('# One')
    expect(text).toContain('```\nlet a = 1\nlet b\n```')
    expect(text).toContain('| k | v |\n| --- | --- |\n| a\\|b | 2 |')
    expect(text).toContain('a picture')
    expect(text).not.toMatch(/menu|bad\(\)/)
  })

  it('refuse pages whose elements nest without end', async () => {
    const html = '<div>'.repeat(100_000)
    await expect(readers.read({ content: html, name: 'a.html' })).rejects.toMatchObject({
      code: 'unreadable_document',
      message: expect.stringContaining('nested'),
    })
  })
})

import { afterAll, describe, expect, it } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'

afterAll(() => readers.close())

async function read(html: string): Promise<string> {
  return (await readers.read({ content: `<main>${html}</main>`, name: 'a.html' })).text
}

describe('pages that documentation generators make', () => {
  it('lose the links of headings, and the signs beside them', async () => {
    const mdBook = '<h2 id="pointers"><a class="header" href="#pointers">Pointers</a></h2><p>A</p>'
    const rustdoc = '<h2 id="methods">Methods<a href="#methods"></a></h2><p>B</p>'
    const sphinx = '<h2>Levers<a class="toc" href="a.html#levers" title="Link">\u00b6</a></h2><p>C</p>'
    expect(await read(mdBook + rustdoc + sphinx)).toBe('## Pointers\n\nA\n\n## Methods\n\nB\n\n## Levers\n\nC\n')
  })

  it('keep links to other pages, and the texts of those within the page and of programs', async () => {
    const links =
      '<a href="b.html">other</a>, <a href="#c">same</a>, <a href="javascript:void(0)">more</a>, <a href="http://play/?code='
    expect(await read(`<p>${links}${'x'.repeat(300)}">run</a>`)).toBe('[other](b.html), same, more, run\n')
    expect(await read('<p>Fees<sup><a href="#n1">1</a></sup></p>')).toBe('Fees[1](#n1)\n')
  })

  it('have code without the addresses of what it names', async () => {
    const javadoc = '<p><code><a href="A.html#setValue(B)">setValue</a>(<a href="B.html">B</a> <b>value</b>)</code>'
    expect(await read(javadoc)).toBe('`setValue(B value)`\n')
    expect(await read('<pre><code>let <a href="x">a</a> = <b>1</b>\n  b</code></pre>')).toBe(
      '```\nlet a = 1\n  b\n```\n',
    )
  })

  it('have headings also where sections are items of a list', async () => {
    const text = await read(
      '<ul><li><section><h2>Methods</h2><ul><li><h3>open</h3><p>Opens the lock.</p></li></ul></section></li></ul>',
    )
    expect(text).toBe('## Methods\n\n### open\n\nOpens the lock.\n')
  })

  it('lose the rows of links that DocBook and Texinfo put round a page', async () => {
    const row = (links: string) => `<tr><td>[<a href="a.html"> ${links} </a>]</td><td> &nbsp; </td></tr>`
    const texinfo = `<table class="header">${row('Up')}</table><h2>Gates</h2><p>A</p>`
    const docBook = `<div class="navheader"><table>${row('Next')}</table></div>${texinfo}<div class="navfooter">Prev</div>`
    expect(await read(docBook)).toBe('## Gates\n\nA\n')
    const table = '<table class="header"><tr><td>Gates <a href="b">open</a></td></tr></table>'
    expect(await read(table)).toContain('| Gates open |')
  })

  it('name each value of a table of names and values', async () => {
    const table =
      '<table><caption>About</caption><tr><th>Author:</th><td>A. Keeper</td></tr><tr><th>Date<td>2 May</table>'
    expect(await read(table)).toBe('About\n\n- Author: A. Keeper\n- Date: 2 May\n')
    const days = '<table><tr><th>Day<th>Hour</tr><tr><th>Monday<td>6</tr></table>'
    expect(await read(days)).toContain('| Day | Hour |\n| --- | --- |\n| Monday | 6 |')
  })
})

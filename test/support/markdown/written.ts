/** Markdown and what a reader must see of it, in order; marks, borders and indentation are left out by the comparison. */
export interface Answer {
  name: string
  markdown: string
  /** Alternatives: a table stands side by side, or as a list of rows. */
  shows: readonly string[]
}

const item = 'This is a rather long list item that has to be wrapped at the width of the terminal'
const cjk =
  '这是一个相当长的列表项目必须在终端的宽度处换行。日本語の長い文章も折り返されます。그리고 한국어 문장도 함께 나옵니다.'
const emoji =
  'A family 👨‍👩‍👧‍👦 and a flag 🏳️‍🌈 and a farmer 👩🏽‍🌾 and a heart ❤️ and a flag 🇩🇪 walk with 👨‍👩‍👧‍👦 to the end of this line'
const rtl = 'هذا عنصر قائمة طويل إلى حد ما يجب التفافه عند عرض الطرفية. וגם בעברית יש כאן משפט ארוך שצריך להישבר.'
const long = `${'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(2)}!`
const url = `https://example.test/${'a-very-long-path/'.repeat(9)}end?question=${'x'.repeat(60)}`
const marks =
  'Cafe\u0301 nai\u0308ve, ภาษาไทยที่ไม่มีช่องว่างระหว่างคำ, हिन्दी में एक लम्बा वाक्य, שָׁלוֹם, العَرَبِيَّة, ti\u1ebfng Vi\u1ec7t'
const kinds = { item, cjk, emoji, rtl, long, url, marks }

const one = (name: string, markdown: string, ...shows: string[]): Answer => ({ name, markdown, shows })

/** Each shape with each kind of text. */
const shapes = Object.entries(kinds).flatMap(([kind, text]) => [
  one(`${kind}: a paragraph`, text, text),
  one(`${kind}: a heading`, `## ${text}`, text),
  one(`${kind}: a list`, `2. Then configure it. ${text}\n3. ${text}`, `2. Then configure it. ${text} 3. ${text}`),
  one(
    `${kind}: a list in a list in a list`,
    `- ${text}\n  - ${text}\n    1. ${text}\n       - [x] ${text}`,
    `• ${text} • ${text} 1. ${text} • [x] ${text}`,
  ),
  one(`${kind}: a loose list`, `* ${text}\n\n  ${text}\n\n* ${text}`, `• ${text} ${text} • ${text}`),
  one(`${kind}: a quote with a list`, `> ${text}\n>\n> - ${text}\n>\n> > ${text}`, `${text} • ${text} ${text}`),
  one(`${kind}: code`, `~~~js\nconst a = "${text}"\n    // ${text}\n~~~`, `const a = "${text}" // ${text}`),
  one(`${kind}: code in a list`, `- a\n\n  ~~~\n  ${text}\n  ~~~\n- b`, `• a ${text} • b`),
  one(
    `${kind}: a table`,
    `| one | two |\n|:--|--:|\n| a | ${text} |\n| b | c |`,
    `one two a ${text} b c`,
    `one: a two: ${text} one: b two: c`,
  ),
  one(`${kind}: styles`, `**${text}** and *${text}* and ~~${text}~~ end`, `${text} and ${text} and ${text} end`),
])

const apart = [
  one('one letter', 'a', 'a'),
  one('an unfinished fence', 'Look:\n\n```ts\nconst a = 1\n', 'Look: const a = 1'),
  one('an unfinished table', '| a | b |\n|---|---|\n', 'a b'),
  one('a wide table without rows', `| ${item} | ${item} |\n|---|---|`, `${item} ${item}`),
  one('a table with an empty head', '| | |\n|---|---|\n| a | b |', 'a b', ': a : b'),
  one('a table whose rows lack cells', '| a | b | c |\n|---|---|---|\n| 1 |\n| 2 | 3 |', 'a b c 1 2 3'),
  one('a table with code and bars', '| a | b |\n|--|--|\n| x \\| y | `p \\| q` |', 'a b x | y `p | q`'),
  one('a list that starts at zero', '0. zero\n1. one', '0. zero 1. one'),
  one('a list with large numbers', `999999998. ${item}\n999999999. ${item}`, `999999998. ${item} 999999999. ${item}`),
  one('an empty item', '- a\n-\n- c', '• a • • c'),
  one('a table in a list', '- a\n\n  | b | c |\n  |---|---|\n  | d | e |', '• a b c d e'),
  one('a heading in a list', `- # ${item}\n- b`, `• ${item} • b`),
  one('a quote in a list', `1. > ${item}\n2. b`, `1. ${item} 2. b`),
  one('tasks', `- [ ] ${item}\n- [x] ${item}`, `• [ ] ${item} • [x] ${item}`),
  one(
    'lists deeper than are laid out',
    Array.from({ length: 12 }, (_, depth) => `${'  '.repeat(depth)}- level${depth} ${item}`).join('\n'),
    Array.from({ length: 12 }, (_, depth) => `${depth < 7 ? '•' : '-'} level${depth} ${item}`).join(' '),
  ),
  one(
    'numbered lists deeper than are laid out',
    Array.from({ length: 10 }, (_, depth) => `${'      '.repeat(depth)}1000. level${depth} ${item}`).join('\n'),
    Array.from({ length: 10 }, (_, depth) => `1000. level${depth} ${item}`).join(' '),
  ),
  one('quotes deeper than are laid out', `${'> '.repeat(9)}${item}`, `> > ${item}`),
  one('a link with a title', `See [the docs](http://x.test/a "A title") now.`, 'See the docs (http://x.test/a) now.'),
  one('a link that is its text', '<http://x.test/a> and http://x.test/b', 'http://x.test/a and http://x.test/b'),
  one('an e-mail address', 'Write to <a@x.test>.', 'Write to a@x.test.'),
  one(
    'a link by reference',
    'See [docs][1].\n\n[1]: http://x.test/a\n\nEnd.',
    'See [docs][1]. [1]: http://x.test/a End.',
  ),
  one('a picture', `![${item}](cat.png)`, `[${item}] (cat.png)`),
  one('HTML', `<div class="a">${item}</div>`, `<div class="a">${item}</div>`),
  one('HTML in a line', 'a <b>b</b> c<br>d', 'a <b>b</b> c<br>d'),
  one('a comment', '<!-- a\n\nb --> c', '<!-- a b --> c'),
  one('entities', 'a &lt;b&gt; &amp; &quot;c&quot; &copy; &#39;', `a <b> & "c" © '`),
  one('escapes', '\\*a\\* \\# b \\[c\\] 1\\. d', '*a* # b [c] 1. d'),
  one('hard breaks', 'a  \nb\\\nc', 'a b c'),
  one('a setext heading', `${item}\n===\n\nb\n---`, `${item} b`),
  one('a rule between', 'a\n\n---\n\nb', 'a b'),
  one('indented code', `a\n\n    ${item}\n    b`, `a ${item} b`),
  one('code with empty lines', '```\na\n\n\n\n  b\n```', 'a b'),
  one('code with tabs', '```\n\ta\tb\n```', 'a b'),
  one('a fence in a fence', '````md\n```js\na\n```\n````', '```js a ```'),
  one('backquotes in code', 'Use `` `a` `` here.', 'Use ``a`` here.'),
  one('formulas', `$$\\sum_{i=1}^{n} x_i$$ and $a_b$`, `$$\\sum_{i=1}^{n} x_i$$ and $a_b$`),
  one('a footnote', `a[^1]\n\n[^1]: ${item}`, `a[^1] [^1]: ${item}`),
  one('spaces that do not break', `a\u00a0b\u00a0${item.replaceAll(' ', '\u00a0')}`, `a b ${item}`),
  one('full-width punctuation', '「全角」、（括弧）！？'.repeat(12), '「全角」、（括弧）！？'.repeat(12)),
  one('joined emoji without spaces', '👨‍👩‍👧‍👦'.repeat(40), '👨‍👩‍👧‍👦'.repeat(40)),
  one(
    'a list of emoji',
    Array.from({ length: 9 }, () => `- 👩🏽‍🌾 ${emoji}`).join('\n'),
    Array.from({ length: 9 }, () => `• 👩🏽‍🌾 ${emoji}`).join(' '),
  ),
  one(
    'a long list',
    Array.from({ length: 120 }, (_, at) => `${at + 1}. ${item} ${at}`).join('\n'),
    Array.from({ length: 120 }, (_, at) => `${at + 1}. ${item} ${at}`).join(' '),
  ),
]

export const written: readonly Answer[] = [...shapes, ...apart]

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { languages } from '../../../src/core/text/code-languages.ts'
import { codeWords } from '../../../src/core/text/code-words.ts'

const names = Object.keys(languages).map((row) => row.split(' ')[0] ?? '')

/** `kind:text` of each word that has a colour. */
function coloured(language: string, text: string): string[] {
  const words = codeWords(text, language) ?? []
  return words.flatMap(({ kind, text: word }) => (kind === undefined ? [] : [`${kind}:${word}`]))
}

describe('words of code', () => {
  test.each([
    [
      'ts',
      'const a = f(1.5, `x\u0024{y}`) // why',
      ['keyword:const', 'name:f', 'value:1.5', 'string:`x\u0024{y}`', 'comment:// why'],
    ],
    ['tsx', 'return <Tab a="b">x</Tab>', ['keyword:return', 'keyword:<Tab', 'string:"b"', 'keyword:</Tab']],
    ['js', 'x = /[/"]+/g; y = a / b / "c"', ['string:/[/"]+/g', 'string:"c"']],
    ['js', 'const größe3 = null /* a\nb */', ['keyword:const', 'value:null', 'comment:/* a\nb */']],
    ['json', '{"a": [true, -1e3, "b\\""]}', ['key:"a"', 'value:true', 'value:1e3', 'string:"b\\""']],
    ['python', '@cached\ndef f(a): # no', ['name:@cached', 'keyword:def', 'name:f', 'comment:# no']],
    [
      'python',
      'x = f"""a "b"\nc""" if None else r\'\'',
      ['string:f"""a "b"\nc"""', 'keyword:if', 'value:None', 'keyword:else', "string:r''"],
    ],
    [
      'bash',
      'echo "$a" $HOME \u0024{b} # c#d\ncurl a#b | if',
      ['keyword:echo', 'string:"$a"', 'key:$HOME', 'key:\u0024{b}', 'comment:# c#d', 'keyword:if'],
    ],
    ['console', "$ cd 'a\nb'\nIt can't be\n$ ls -a", ['keyword:$ ', 'keyword:cd', "string:'a\nb'", 'keyword:$ ']],
    [
      'sql',
      "SELECT count(*) FROM a where b = 'it''s' -- c",
      ['keyword:SELECT', 'name:count', 'keyword:FROM', 'keyword:where', "string:'it''s'", 'comment:-- c'],
    ],
    [
      'html',
      '<!-- a --><a href="x>y">b</a>&amp;',
      ['comment:<!-- a -->', 'keyword:<a', 'key:href', 'string:"x>y"', 'keyword:</a', 'value:&amp;'],
    ],
    [
      'html',
      '<script>let a = "<b>"</script><style>a { color: #fff }</style>',
      [
        'keyword:<script',
        'keyword:let',
        'string:"<b>"',
        'keyword:</script',
        'keyword:<style',
        'key:color',
        'value:#fff',
        'keyword:</style',
      ],
    ],
    ['yaml', "a-b: it's # c\nurl: http://x\n'd': yes", ['key:a-b', 'comment:# c', 'key:url', "key:'d'", 'keyword:yes']],
    [
      'go',
      "func f(r rune) string { return `a\\` + 'b' }",
      ['keyword:func', 'name:f', 'keyword:rune', 'keyword:string', 'keyword:return', 'string:`a\\`', "string:'b'"],
    ],
    [
      'markdown',
      '# A\n> b\n- [c](d) `e` **f**\n````\n```\n````\nend',
      [
        'keyword:# A',
        'comment:> b',
        'value:- ',
        'name:[c](d)',
        'string:`e`',
        'keyword:**f**',
        'string:````\n```\n````',
      ],
    ],
    [
      'diff',
      'diff --git a b\n@@ -1 +1 @@\n-a\n+b\n c',
      ['comment:diff --git a b', 'key:@@ -1 +1 @@', 'removed:-a', 'added:+b'],
    ],
    ['rust', "fn f<'a>(c: char) { c == '\\n' }", ['keyword:fn', "name:'a", 'keyword:char', "string:'\\n'"]],
    ['toml', '[a]\nb.c = """d\n"e" """ # f', ['keyword:[a]', 'key:b.c', 'string:"""d\n"e" """', 'comment:# f']],
    ['ini', '; a\nb = on\nC=d', ['comment:; a', 'key:b', 'keyword:on', 'key:C']],
    ['css', '@media x { .a { top: 1.5em } }', ['keyword:@media', 'name:.a', 'key:top', 'value:1.5em']],
    ['scss', 'a: url(//b); // c', ['key:a', 'comment:// c']],
    ['dockerfile', 'FROM node:24 # a\nRUN rm a/* b', ['name:FROM', 'value:24', 'comment:# a', 'name:RUN']],
    ['c', "#include <a.h>\nchar b = '\"'; // c", ['keyword:#include', 'keyword:char', "string:'\"'", 'comment:// c']],
    ['rust', 'let a = r#"b "c" d"#; #[e]', ['keyword:let', 'string:r#"b "c" d"#', 'name:#[e]']],
    ['php', "# a\nif (b('c')) {} /* d */", ['comment:# a', 'keyword:if', 'name:b', "string:'c'", 'comment:/* d */']],
    ['perl', 'my $a = "b"; # c', ['keyword:my', 'key:$a', 'string:"b"', 'comment:# c']],
    [
      'ruby',
      'def a(b) @c = :d unless nil end',
      ['keyword:def', 'name:a', 'key:@c', 'key::d', 'keyword:unless', 'value:nil', 'keyword:end'],
    ],
    [
      'lua',
      'local a = #b --[[ c\nd ]] [[e]] -- f',
      ['keyword:local', 'comment:--[[ c\nd ]]', 'string:[[e]]', 'comment:-- f'],
    ],
  ])('of %s: %j', (language, text, expected) => {
    expect(coloured(language, text)).toEqual(expected)
  })

  test('are found by any name that follows a fence, in any case', () => {
    expect(codeWords('a', 'JSX title="x"')).toEqual([{ text: 'a' }])
    expect(codeWords('a', 'c++')).toEqual([{ text: 'a' }])
    expect(codeWords('a', 'nonsense')).toBe(undefined)
    expect(codeWords('a', 'constructor')).toBe(undefined)
    expect(codeWords('a'.repeat(50_001), 'ts')).toBe(undefined)
  })
})

/** What opens something and may never be closed, in the languages that there are. */
const nasty = [
  '](][',
  '[](',
  '[',
  ']',
  '](',
  '[a](',
  '![',
  '(',
  '{',
  '}',
  '<',
  '</',
  '<a ',
  '<!',
  '<!--',
  '<script>',
  '<style>',
  '<script',
  '>',
  '"',
  "'",
  '`',
  '```',
  '\n```',
  '\n~~~',
  '"""',
  "'''",
  '\\',
  '\\"',
  '\\\\',
  '\\"\r',
  '-0',
  '/',
  '=/',
  '=/[',
  '//',
  '/*',
  '*/',
  '*',
  '**',
  '**a',
  '#',
  '#[',
  '##',
  '\n#',
  '\n ',
  ' ',
  '\t',
  '\n',
  '\r',
  '\n\n',
  '--',
  '-',
  '\n- ',
  '\n+',
  '\n@@',
  '@',
  '@a',
  '$',
  '${',
  '$a',
  ':',
  'a:',
  'a =',
  'a',
  'A(',
  '0',
  '0x',
  '1.',
  '_',
  '&',
  '&#',
  '!',
  '\u{1f600}',
  '\ud83d',
  '\u2028',
  'é',
  'r#"',
  '--[[',
  '[[',
  '\n1. ',
  '<?',
  '=',
]

describe('whatever the text', () => {
  test('the words joined are the text', () => {
    const text = fc.array(fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: 'binary', maxLength: 4 })), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(text, fc.constantFrom(...names), (parts, language) => {
        const words = codeWords(parts.join(''), language) ?? []
        expect(words.map(({ text: word }) => word).join('')).toBe(parts.join(''))
        expect(words.every(({ text: word }) => word !== '')).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  // Linear: some milliseconds each, on a busy machine too. Quadratic: many seconds.
  test.each(names)('50,000 characters of %s take no time', (language) => {
    const timeOf = (unit: string, end: string) => {
      const text = unit.repeat(Math.floor(49_000 / unit.length)) + end
      const start = performance.now()
      expect(codeWords(text, language)).not.toBe(undefined)
      return performance.now() - start
    }
    for (const one of nasty) expect(timeOf(one, '\\'), JSON.stringify(one)).toBeLessThan(1000)
    const some = fc.constantFrom(...nasty)
    fc.assert(
      fc.property(some, some, some, (one, other, end) => timeOf(one + other, end) < 1000),
      { numRuns: 50 },
    )
  })
})

/** What a word of code can be: `value` is a number or a word such as `true`, `name` what is called, or a type. */
export type CodeKind = 'comment' | 'keyword' | 'string' | 'value' | 'name' | 'key' | 'added' | 'removed'

export interface Language {
  /**
   * Sources of regular expressions; at each place the first that matches counts. Time stays linear because each matches as soon as
   * its first characters do (what is not closed ends with its line or the text), or gives up where the next try begins.
   * A `word` may be a keyword, a key, a value or a name.
   */
  rules: Readonly<Partial<Record<CodeKind | 'word' | Inside, string>>>
  /** What the parts are that are looked at again. */
  inside?: Readonly<Record<Inside, Language>>
  keywords?: string
  /** Keywords count in capitals too. */
  anyCase?: boolean
  /** What follows a key. */
  afterKey?: string
  /** Words before `(` and words with a capital are names. */
  named?: boolean
}

type Inside = 'tag' | 'script' | 'sheet'

const { raw } = String
const tick = '`'
const lineStart = raw`(?<![^\n])`
const block = raw`\/\*[^]*?(?:\*\/|$)`
const slashes = raw`\/\/.*|${block}`
const hash = raw`(?<![^\s;|&()])#.*`
const double = raw`"(?:\\.|[^"\\\n])*"?`
const single = raw`'(?:\\.|[^'\\\n])*'?`
const quoted = `${double}|${single}`
const markup = raw`"[^"]*"?|'[^']*'?`
const severalLines = raw`"(?:\\[^]?|[^"\\])*"?`
const rawString = raw`${tick}[^${tick}]*${tick}?`
const template = raw`${tick}(?:\\[^]?|[^${tick}\\])*${tick}?`
/** One character: a lifetime or an apostrophe opens no string. */
const character = raw`'(?:\\[^\n]{1,9}?|[^\\'\n])'`
const tripled = [`"""`, `'''`].map((mark) => raw`${mark}(?:\\[^]?|[^\\])*?(?:${mark}|$)`).join('|')
/** A regular expression of JavaScript, by what it may follow: else it is a division. */
const pattern = raw`(?<=[=(,:;!&|?{}[]\s?)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]?|[^/\\\n[])+\/?\w*`
const openTag = raw`(?<![\w$)\]])<\p{L}[\p{L}\p{N}.]*|<\/\p{L}[\p{L}\p{N}.]*`
const decorator = raw`@[\p{L}_][\w.]*`
const word = raw`[\p{L}_$][\p{L}\p{N}_$]*`
const dashed = raw`[$\p{L}_-][\p{L}\p{N}_-]*`
const value = raw`\d[\w.]*`

const likeC = { comment: slashes, string: quoted, value, word }
const flow =
  'break case catch class const continue default do else enum finally for if import in new return static super switch this throw try void while'
const access = 'abstract extends final implements interface override package private protected public var'
const types = 'bool boolean byte char double float int long short signed string unsigned'

const typescript: Language = {
  rules: { ...likeC, string: `${quoted}|${template}|${pattern}`, keyword: openTag, name: decorator },
  keywords: `${flow} ${access} any as async asserts await bigint boolean declare delete export from function infer instanceof is keyof let namespace never number object of readonly satisfies string symbol type typeof unknown using yield`,
  named: true,
}

const css: Language = {
  rules: {
    comment: block,
    string: quoted,
    keyword: raw`@[\w-]+`,
    value: raw`#[\da-fA-F]{3,8}(?!\w)|-?\d[\w.%]*`,
    name: raw`[.#][\p{L}_-][\w-]*`,
    word: dashed,
  },
  afterKey: raw`\s*:`,
}

const bash: Language = {
  rules: {
    comment: hash,
    string: raw`'[^']*'?|${severalLines}`,
    key: raw`\$(?:\w+|\{[^}\n]*\}?|[?#@*!$-])`,
    value,
    word: raw`[\p{L}_-][\p{L}\p{N}_-]*`,
  },
  keywords:
    'alias break case cat cd chmod continue cp curl declare do docker done echo elif else esac eval exec exit export fi for function git grep if in kill local ls mkdir mv node npm npx pip printf read return rm sed set shift source sudo test then touch trap unset until while',
}

const xml: Language = {
  rules: {
    comment: raw`<!--[^]*?(?:-->|$)|<[!?][^>]*>?`,
    script: raw`(?<=<script\b[^<>]{0,200}>)(?!<\/script)[^]+?(?=<\/script|$)`,
    sheet: raw`(?<=<style\b[^<>]{0,200}>)(?!<\/style)[^]+?(?=<\/style|$)`,
    tag: raw`<\/?[\p{L}_](?:${markup}|[^"'>])*>?`,
    value: raw`&#?\w{1,9};`,
  },
  inside: {
    tag: {
      rules: {
        keyword: raw`<\/?[\p{L}_][\p{L}\p{N}:._-]*`,
        string: markup,
        key: raw`[\p{L}_:@#.*-][\p{L}\p{N}_:@#.*-]*`,
      },
    },
    script: typescript,
    sheet: css,
  },
}

/** By their names after a fence. Those that are rare share a row: some of a neighbour's keywords are coloured too. */
export const languages: Readonly<Record<string, Language>> = {
  'typescript ts tsx mts cts javascript js jsx mjs cjs': typescript,
  'json jsonc json5 jsonl ndjson': { rules: likeC, afterKey: raw`\s*:` },
  'python py python3 pyi': {
    rules: { ...likeC, comment: '#.*', string: `[rbfuRBFU]{0,2}(?:${tripled}|${quoted})`, name: decorator },
    keywords:
      'and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield',
    named: true,
  },
  'bash sh shell zsh fish': bash,
  // What a program wrote has apostrophes.
  'console shellsession terminal': {
    ...bash,
    rules: { ...bash.rules, keyword: raw`${lineStart}[$%>] `, string: quoted },
  },
  'sql mysql postgresql postgres sqlite plsql': {
    rules: { ...likeC, comment: `--.*|${block}`, string: raw`'(?:''|[^'])*'?|"[^"\n]*"?` },
    keywords:
      'add all alter and as asc begin between bigint boolean by case cast check column commit constraint create cross database date default delete desc distinct drop else end exists foreign from full group having if in index inner insert int integer into is join jsonb key left like limit not null numeric offset on or order outer over partition primary real references returning right rollback select serial set table text then timestamp transaction union unique update using uuid values varchar view when where with',
    anyCase: true,
    named: true,
  },
  'xml html htm xhtml svg vue svelte rss atom plist astro': xml,
  'yaml yml': {
    rules: {
      comment: hash,
      keyword: raw`${lineStart}---.*`,
      name: raw`(?<!\S)[&*!][\p{L}_!][\w.-]*`,
      value,
      // An apostrophe inside a word opens no string.
      word: raw`[\p{L}_$/.-][\p{L}\p{N}_$/.'-]*`,
      string: quoted,
    },
    keywords: 'yes no on off',
    afterKey: raw`:(?!\S)`,
  },
  'go golang': {
    rules: { ...likeC, string: `${double}|${character}|${rawString}` },
    keywords:
      'any bool break byte case chan const continue default defer else error fallthrough float64 for func go goto if import int int64 interface iota map package range return rune select string struct switch type uint var',
    named: true,
  },
  'markdown md mdx': {
    rules: {
      string: raw`${lineStart} {0,3}(?<fence>${tick}{3,}|~{3,})[^]*?(?:\n {0,3}\k<fence>|$)|${tick}[^${tick}\n]+${tick}`,
      keyword: raw`${lineStart}#{1,6} .*|\*\*[^*\n]+\*\*`,
      comment: raw`${lineStart} {0,3}>.*|<!--[^]*?(?:-->|$)`,
      value: raw`${lineStart}[ \t]*(?:[*+-]|\d{1,9}[.)]) `,
      name: raw`!?\[[^\][\n]*\]\([^()\n]*\)`,
    },
  },
  'diff patch': {
    rules: {
      comment: raw`${lineStart}(?:diff|index|---|\+\+\+) .*`,
      key: raw`${lineStart}@@.*`,
      added: raw`${lineStart}\+.*`,
      removed: raw`${lineStart}-.*`,
    },
  },
  'rust rs': {
    rules: {
      ...likeC,
      string: raw`b?r#"[^]*?(?:"#|$)|b?${severalLines}|${character}`,
      name: raw`#!?\[[^\]\n]*\]?|'[\p{L}_]\w*`,
    },
    keywords:
      'as async await bool break char const continue crate dyn else enum extern f64 fn for i32 i64 if impl in let loop match mod move mut pub ref return self Self static str struct super trait type u8 u32 u64 unsafe use usize where while',
    named: true,
  },
  'java kotlin kt scala groovy dart csharp c# cs swift php': {
    rules: { ...likeC, comment: raw`${slashes}|(?<!\S)#(?!\[).*`, string: `${tripled}|${quoted}`, name: decorator },
    keywords: `${flow} ${access} ${types} as assert async await companion data def delegate echo extension fn foreach fun func function get guard init instanceof internal is let namespace object protocol record sealed self set struct synchronized throws trait use using val volatile when where yield`,
    named: true,
  },
  'c h cpp c++ cc cxx hpp objectivec objc arduino': {
    rules: { ...likeC, string: `${double}|${character}`, keyword: raw`${lineStart}[ \t]*#[ \t]*\w+` },
    keywords: `${flow} ${types} auto constexpr delete explicit extern goto inline namespace noexcept operator private protected public register sizeof size_t struct template typedef typename union using virtual volatile`,
    named: true,
  },
  'ruby rb perl pl r elixir ex graphql gql makefile make dockerfile docker powershell ps1 nix terraform hcl tf': {
    rules: {
      ...likeC,
      comment: hash,
      key: raw`[$@]{1,2}[\p{L}_]\w*|(?<![:\w]):[\p{L}_]\w*`,
    },
    keywords:
      'add alias and arg begin break case class cmd copy def defmodule do else elseif elsif end ensure entrypoint enum env expose for foreach from fragment function if implements in include input interface let module mutation my next not or package param query require rescue resource return run scalar schema self sub then type union unless until use user variable volume when while workdir yield',
    anyCase: true,
    named: true,
  },
  lua: {
    rules: { ...likeC, comment: raw`--\[\[[^]*?(?:\]\]|$)|--.*`, string: raw`${quoted}|\[\[[^]*?(?:\]\]|$)` },
    keywords: 'and break do else elseif end for function goto if in local not or repeat return then until while',
    named: true,
  },
  css,
  'scss less sass': { ...css, rules: { ...css.rules, comment: slashes } },
  'toml ini conf cfg properties env dotenv editorconfig': {
    rules: {
      comment: raw`(?<!\S)[#;].*`,
      string: `${tripled}|${quoted}`,
      keyword: raw`${lineStart}\[.*`,
      value,
      word: raw`[\p{L}_-][\p{L}\p{N}_.-]*`,
    },
    afterKey: raw`[ \t]*=`,
  },
}

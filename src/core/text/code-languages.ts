/** What a word of code can be: `value` is a number or a word such as `true`, `name` what is called, or a type. */
export type CodeKind = 'comment' | 'keyword' | 'string' | 'value' | 'name' | 'key' | 'added' | 'removed'

export interface Language {
  /**
   * Sources of regular expressions; at each place the first that matches counts. Time stays linear because each matches as soon as
   * its first characters do (what is not closed ends with its line or the text), or gives up where the next try begins.
   * A `word` has no colour unless it is a keyword.
   */
  rules: Readonly<Partial<Record<CodeKind | 'word' | Inside, string>>>
  /** What the parts are that are looked at again. */
  inside?: Readonly<Record<Inside, Language>>
  keywords?: string
  /** Keywords count in capitals too. */
  anyCase?: boolean
}

export type Inside = 'tag' | 'script' | 'sheet'

const { raw } = String
const tick = '`'
const lineStart = raw`(?<![^\n])`
const block = raw`\/\*[^]*?(?:\*\/|$)`
const slashes = raw`\/\/.*|${block}`
const hash = raw`(?<![^\s;|&()])#.*`
const quoted = raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`
const string = raw`${quoted}|["'][^\n]*`
const markup = raw`"[^"]*"?|'[^']*'?`
const severalLines = raw`"(?:\\[^]?|[^"\\])*"?`
const rawString = raw`${tick}[^${tick}]*${tick}?`
const template = raw`${tick}(?:\\[^]?|[^${tick}\\])*${tick}?`
/** One character: a lifetime or an apostrophe opens no string. */
const character = raw`'(?:\\[^\n]{1,9}?|[^\\'\n])'`
const tripled = raw`(?<mark>"{3}|'{3})(?:\\[^]?|[^\\])*?(?:\k<mark>|$)`
/** A regular expression of JavaScript, by what it may follow: else it is a division. */
const pattern = raw`(?<=[=(,:;!&|?{}[]\s?)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]?|[^/\\\n[])+\/?\w*`
const openTag = raw`(?:(?<![\w$)\]])<|<\/)\p{L}[\p{L}\p{N}.]*`
const decorator = raw`@[\p{L}_][\w.]*`
const word = raw`[\p{L}_$][\p{L}\p{N}_$]*`
const dashed = raw`[$\p{L}_-][\p{L}\p{N}_-]*`
/** An apostrophe inside a word opens no string. */
const setting = raw`[\p{L}_$/.-][\p{L}\p{N}_$/.'-]*`
const value = raw`\d[\w.]*|(?:[Tt]rue|[Ff]alse|None|nil|null|undefined)\b`
/** What is called, or has a capital. */
const name = raw`${word}(?=\()|\p{Lu}[\p{L}\p{N}_$]*`

const likeC = { comment: slashes, string, value, name, word }
/** Of most languages with braces. */
const usual =
  'abstract as async await bool boolean break case catch class const continue default delete do else enum extends final finally for from function if implements import in interface is let namespace new override package private protected public return static string super switch this throw try type typeof using var void while yield'
const ofPython = 'and assert def elif except global lambda not or pass raise self with'
const others = {
  keywords: `${usual} ${ofPython} begin auto char double elsif end extern float fn foreach fun func goto impl inline int local long match mod module mut my nullptr require sizeof struct sub template then trait typedef unless unsafe unsigned until use val virtual where`,
}

const typescript: Language = {
  rules: { ...likeC, string: `${string}|${template}|${pattern}`, keyword: openTag, name: `${decorator}|${name}` },
  keywords: `${usual} any declare export infer instanceof keyof never number object of readonly satisfies unknown`,
}

const css: Language = {
  rules: {
    // Only those of its dialects have slashes; an address may have them too.
    comment: raw`${block}|(?<!\S)\/\/.*`,
    string,
    keyword: raw`@[\w-]+`,
    value: raw`#[\da-fA-F]{3,8}(?!\w)|-?\d[\w.%]*`,
    name: raw`[.#][\p{L}_-][\w-]*`,
    key: raw`${dashed}(?=\s*:)`,
    word: dashed,
  },
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

/** Of Rust and C: quotes are around characters. */
const systems: Language = {
  ...others,
  rules: {
    ...likeC,
    string: raw`b?r#"[^]*?(?:"#|$)|${severalLines}|${character}|${rawString}`,
    keyword: raw`${lineStart}[ \t]*#[ \t]*\w+`,
    name: raw`#!?\[[^\]\n]*\]?|'[\p{L}_]\w*|${name}`,
  },
}

/** By their names after a fence. Those that are rare share a row: some of a neighbour's keywords are coloured too. */
export const languages: Readonly<Record<string, Language>> = {
  'typescript ts tsx mts cts javascript js jsx mjs cjs': typescript,
  'json jsonc json5 jsonl ndjson': {
    rules: { key: raw`(?:${quoted}|${word})(?=\s*:)`, ...likeC },
  },
  'python py python3 pyi': {
    rules: {
      ...likeC,
      comment: '#.*',
      string: `[rbfuRBFU]{0,2}(?:${tripled}|${string})`,
      name: `${decorator}|${name}`,
    },
    keywords: `${ofPython} as async await break case class continue del else finally for from if import in is match nonlocal return try while yield`,
  },
  'bash sh shell zsh fish console shellsession terminal': {
    rules: {
      comment: hash,
      keyword: raw`${lineStart}[$%>] `,
      // What a program wrote has apostrophes in its words.
      string: raw`(?<!\w)'[^']*'?|${severalLines}`,
      key: raw`\$(?:\w+|\{[^}\n]*\}?|[?#@*!$-])`,
      value,
      word: dashed,
    },
    keywords:
      'break case cd continue do done echo elif else esac exit export fi for function if in local read return set shift source test then unset until while',
  },
  'sql mysql postgresql postgres sqlite plsql': {
    rules: { ...likeC, comment: `--.*|${block}`, string: raw`'(?:''|[^'])*'?|"[^"\n]*"?` },
    keywords:
      'and as asc begin between boolean by case create default delete desc distinct drop else end exists from group having in index inner insert int integer into is join key left like limit not null on or order outer primary references returning select set table text then timestamp union unique update values when where with',
    anyCase: true,
  },
  'xml html htm xhtml svg vue svelte rss atom plist astro': xml,
  'yaml yml toml ini conf cfg properties env dotenv editorconfig': {
    rules: {
      key: raw`(?:${setting}|${quoted})(?=:(?!\S)|[ \t]*=)`,
      comment: raw`(?<!\S)[#;].*`,
      keyword: raw`${lineStart}(?:---|\[).*`,
      name: raw`(?<!\S)[&*!][\p{L}_!][\w.-]*`,
      value,
      word: setting,
      string: `${tripled}|${string}`,
    },
    keywords: 'yes no on off',
  },
  'go golang': {
    ...systems,
    keywords:
      'any bool break byte case chan const continue default defer else error for func go goto if import int interface map package range return rune select string struct switch type uint var',
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
  'css scss less sass': css,
  'rust rs c h cpp c++ cc cxx hpp objectivec objc arduino': systems,
  'java kotlin kt scala groovy dart csharp c# cs swift php': {
    ...others,
    rules: {
      ...likeC,
      comment: raw`${slashes}|(?<!\S)#(?!\[).*`,
      string: `${tripled}|${string}`,
      name: `${decorator}|${name}`,
    },
  },
  'ruby rb perl pl r elixir ex graphql gql makefile make dockerfile docker powershell ps1 nix terraform hcl tf': {
    ...others,
    rules: { key: raw`[$@]{1,2}[\p{L}_]\w*|(?<![:\w]):[\p{L}_]\w*`, ...likeC, comment: hash },
  },
  lua: {
    ...others,
    rules: { ...likeC, comment: raw`--\[\[[^]*?(?:\]\]|$)|--.*`, string: raw`${string}|\[\[[^]*?(?:\]\]|$)` },
  },
}

import { beforeBlock } from './part-ends.ts'
import type { TextReader } from './reader.ts'

const languages: Record<string, string> = {
  typescript: '.ts .tsx .mts .cts',
  javascript: '.js .jsx .mjs .cjs',
  python: '.py .pyi',
  ruby: '.rb',
  go: '.go',
  rust: '.rs',
  java: '.java',
  kotlin: '.kt .kts',
  swift: '.swift',
  c: '.c .h',
  'c++': '.cc .cpp .cxx .hpp .hh',
  'c#': '.cs',
  php: '.php',
  scala: '.scala',
  shell: '.sh .bash .zsh',
  powershell: '.ps1',
  sql: '.sql',
  css: '.css .scss .less',
  vue: '.vue',
  svelte: '.svelte',
  lua: '.lua',
  elixir: '.ex .exs',
  erlang: '.erl',
  haskell: '.hs',
  ocaml: '.ml .mli',
  clojure: '.clj .cljs',
  dart: '.dart',
  zig: '.zig',
  r: '.r',
  julia: '.jl',
  perl: '.pl .pm',
  protobuf: '.proto',
  graphql: '.graphql .gql',
  terraform: '.tf',
}
const byExtension = new Map(
  Object.entries(languages).flatMap(([language, extensions]) =>
    extensions.split(' ').map((extension) => [extension, language] as const),
  ),
)

export const codeReader: TextReader = {
  name: 'code',
  mediaTypes: [
    'text/javascript',
    'application/javascript',
    'text/x-typescript',
    'text/x-python',
    'text/css',
    'application/sql',
  ],
  extensions: [...byExtension.keys()],
  partEnd: beforeBlock,
  read(text, name) {
    const language = byExtension.get(/\.[a-z0-9]+$/.exec((name ?? '').toLowerCase())?.[0] ?? '')
    return {
      text,
      start: 0,
      metadata: language === undefined ? {} : { programming_language: language },
      chunker: 'code',
    }
  },
}

import type { TextReader } from './reader.ts'

const asText: Pick<TextReader, 'read'> = {
  read: (text) => ({ text, start: 0, metadata: {}, chunker: 'paragraph' }),
}

/** Everything that is text and has no reader of its own. */
export const textReader: TextReader = {
  ...asText,
  name: 'text',
  mediaTypes: ['text/plain'],
  extensions: ['.txt', '.text', '.log', '.rst', '.adoc', '.org'],
}

export const dataReader: TextReader = {
  ...asText,
  name: 'data',
  mediaTypes: [
    'application/json',
    'text/csv',
    'text/tab-separated-values',
    'application/x-ndjson',
    'application/yaml',
    'text/yaml',
  ],
  extensions: ['.json', '.jsonl', '.ndjson', '.csv', '.tsv', '.yaml', '.yml', '.toml'],
}

export const codeReader: TextReader = {
  name: 'code',
  mediaTypes: ['text/javascript', 'text/x-typescript', 'text/x-python', 'text/css'],
  extensions: (
    '.ts .tsx .mts .cts .js .jsx .mjs .cjs .py .rb .go .rs .java .kt .swift .c .h .cc .cpp .hpp .cs .php .scala .sh .bash ' +
    '.sql .css .scss .vue .svelte .lua .ex .exs .erl .hs .ml .clj .dart .zig'
  ).split(' '),
  read: (text) => ({ text, start: 0, metadata: {}, chunker: 'code' }),
}

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Protocol Buffers, as much as ONNX needs: varints, and bytes with their length. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}
export const number = (field: number, value: number) => Buffer.concat([varint(field * 8), varint(value)])
export const bytes = (field: number, value: Buffer) =>
  Buffer.concat([varint(field * 8 + 2), varint(value.length), value])
export const text = (field: number, value: string) => bytes(field, Buffer.from(value))
export const message = (field: number, ...fields: Buffer[]) => bytes(field, Buffer.concat(fields))

export const float = 1
export const int64 = 7

/** ValueInfoProto of a tensor whose dimensions are names or sizes. */
export function tensor(field: number, name: string, type: number, dimensions: (string | number)[]): Buffer {
  const shape = dimensions.map((size) => message(1, typeof size === 'number' ? number(1, size) : text(2, size)))
  return message(field, text(1, name), message(2, message(1, number(1, type), message(2, ...shape))))
}

/** A model of one step, the look-up of a vector for each token, as an ONNX file. */
export function tinyModel(vocabulary: number, dimensions: number): Buffer {
  const table = new Float32Array(vocabulary * dimensions)
  let state = 1
  for (let index = 0; index < table.length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    table[index] = state / 2 ** 31 - 1
  }
  const node = message(1, text(1, 'table'), text(1, 'input_ids'), text(2, 'last_hidden_state'), text(4, 'Gather'))
  const initializer = message(
    5,
    number(1, vocabulary),
    number(1, dimensions),
    number(2, float),
    text(8, 'table'),
    bytes(9, Buffer.from(table.buffer)),
  )
  const graph = message(
    7,
    node,
    text(2, 'tiny'),
    initializer,
    tensor(11, 'input_ids', int64, ['batch', 'length']),
    tensor(11, 'attention_mask', int64, ['batch', 'length']),
    tensor(12, 'last_hidden_state', float, ['batch', 'length', dimensions]),
  )
  return Buffer.concat([number(1, 8), graph, message(8, text(1, ''), number(2, 13))])
}

const dimensions = 24
const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789']
const tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', ...letters, ...letters.map((letter) => `##${letter}`)]
const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']

/** `tokens` begins with the special ones. */
export function tokenizer(tokens: readonly string[]): object {
  const added = special.map((content, id) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }))
  const piece = (id: string, type_id = 0) => ({ SpecialToken: { id, type_id } })
  const single = [piece('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, piece('[SEP]')]
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single,
      pair: [...single, { Sequence: { id: 'B', type_id: 1 } }, piece('[SEP]', 1)],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((id) => [id, { id, ids: [tokens.indexOf(id)], tokens: [id] }]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  }
}

/** The files of a sentence model that transformers.js runs: spelling is all that it knows. By path below its folder. */
export function tinyModelFiles(weights = 'onnx/model.onnx'): Map<string, Buffer> {
  const json = (value: object) => Buffer.from(JSON.stringify(value))
  return new Map([
    [
      'config.json',
      json({ model_type: 'bert', architectures: ['BertModel'], hidden_size: dimensions, vocab_size: tokens.length }),
    ],
    ['tokenizer.json', json(tokenizer(tokens))],
    ['tokenizer_config.json', json({ tokenizer_class: 'BertTokenizer', model_max_length: 128, pad_token: '[PAD]' })],
    [weights, tinyModel(tokens.length, dimensions)],
  ])
}

export const tinyModelName = 'tiny/spelling'
export const tinyModelDimensions = dimensions

/** Writes the model below a cache folder. */
export async function writeTinyModel(cacheFolder: string, weights?: string): Promise<void> {
  const folder = join(cacheFolder, tinyModelName)
  await mkdir(join(folder, 'onnx'), { recursive: true })
  for (const [path, content] of tinyModelFiles(weights)) await writeFile(join(folder, path), content)
}

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bytes, float, int64, message, number, tensor, text, tokenizer } from './tiny-model.ts'

const words = ['harbour', 'lamp', 'tide', 'gull', 'anchor', 'storm']
const tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', ...words]

function values(name: string, type: number, shape: number[], data: Buffer): Buffer {
  return message(5, ...shape.map((size) => number(1, size)), number(2, type), text(8, name), bytes(9, data))
}
const floats = (name: string, shape: number[], data: number[]) =>
  values(name, float, shape, Buffer.from(Float32Array.from(data).buffer))
const integers = (name: string, data: bigint[]) =>
  values(name, int64, [data.length], Buffer.from(BigInt64Array.from(data).buffer))

/** AttributeProto of a whole number. */
const whole = (name: string, value: number) => message(5, text(1, name), number(3, value), number(20, 2))

function node(operator: string, inputs: string[], output: string, ...attributes: Buffer[]): Buffer {
  return message(1, ...inputs.map((name) => text(1, name)), text(2, output), text(4, operator), ...attributes)
}

/** Counts, for each pair, the words that query and text share. `labels` copies the number. */
function crossEncoder(labels: number): Buffer {
  const size = tokens.length
  const table = Array.from({ length: size * size }, (_, at) => {
    const [row, column] = [Math.floor(at / size), at % size]
    return row === column && row >= size - words.length ? 1 : 0
  })
  const graph = message(
    7,
    node('Gather', ['table', 'input_ids'], 'tokens'),
    node('Cast', ['token_type_ids'], 'types', whole('to', float)),
    node('Unsqueeze', ['types', 'last'], 'in_text'),
    node('Sub', ['one', 'in_text'], 'in_query'),
    node('Mul', ['tokens', 'in_text'], 'text_tokens'),
    node('Mul', ['tokens', 'in_query'], 'query_tokens'),
    node(
      'ReduceMax',
      ['text_tokens'],
      'text_words',
      message(5, text(1, 'axes'), number(8, 1), number(20, 7)),
      whole('keepdims', 0),
    ),
    node(
      'ReduceMax',
      ['query_tokens'],
      'query_words',
      message(5, text(1, 'axes'), number(8, 1), number(20, 7)),
      whole('keepdims', 0),
    ),
    node('Mul', ['text_words', 'query_words'], 'shared'),
    node('MatMul', ['shared', 'ones'], 'logits'),
    text(2, 'tiny'),
    floats('table', [size, size], table),
    floats('one', [1], [1]),
    floats('ones', [size, labels], Array<number>(size * labels).fill(1)),
    integers('last', [-1n]),
    tensor(11, 'input_ids', int64, ['batch', 'length']),
    tensor(11, 'attention_mask', int64, ['batch', 'length']),
    tensor(11, 'token_type_ids', int64, ['batch', 'length']),
    tensor(12, 'logits', float, ['batch', labels]),
  )
  return Buffer.concat([number(1, 8), graph, message(8, text(1, ''), number(2, 13))])
}

export const tinyCrossEncoderName = 'tiny/shared-words'

/** Writes a cross-encoder that transformers.js runs: shared words of its vocabulary are all that it knows. */
export async function writeTinyCrossEncoder(cacheFolder: string, labels = 1): Promise<void> {
  const folder = join(cacheFolder, tinyCrossEncoderName)
  await mkdir(join(folder, 'onnx'), { recursive: true })
  const config = { model_type: 'bert', architectures: ['BertForSequenceClassification'], hidden_size: 8 }
  const files = {
    'config.json': JSON.stringify({ ...config, vocab_size: tokens.length }),
    'tokenizer.json': JSON.stringify(tokenizer(tokens)),
    'tokenizer_config.json': JSON.stringify({
      tokenizer_class: 'BertTokenizer',
      model_max_length: 128,
      pad_token: '[PAD]',
    }),
    'onnx/model.onnx': crossEncoder(labels),
  }
  for (const [path, content] of Object.entries(files)) await writeFile(join(folder, path), content)
}

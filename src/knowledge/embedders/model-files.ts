import { readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The number formats of a model: fewer bits, a smaller file. */
const modelTypes = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'] as const
export type ModelType = (typeof modelTypes)[number]

const suffixes: Record<ModelType, string> = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
}
const namePattern = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*)?$/

/** `owner/name`, safe as a path. */
export function isModelName(model: string): boolean {
  return namePattern.test(model)
}

export const weightsFile = (type: ModelType): string => `onnx/model${suffixes[type]}.onnx`
/** The files of a model besides its weights. */
export const modelFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json'] as const

/** The model cache for all projects of this user: `$XDG_CACHE_HOME/agentserve/models`. */
export function modelCacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'agentserve', 'models')
}

/** The files of a model in a folder, if it can be run; without a type, the most exact one. */
export async function findModelFiles(
  folder: string,
  type?: ModelType,
): Promise<{ dimensions: number; type: ModelType } | undefined> {
  const dimensions = await hiddenSize(join(folder, 'config.json'))
  const present = new Set([
    ...(await list(folder)),
    ...(await list(join(folder, 'onnx'))).map((file) => `onnx/${file}`),
  ])
  const found = (type === undefined ? modelTypes : [type]).find((each) => present.has(weightsFile(each)))
  if (dimensions === undefined || found === undefined || !modelFiles.every((file) => present.has(file)))
    return undefined
  return { dimensions, type: found }
}

const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

async function hiddenSize(path: string): Promise<number | undefined> {
  try {
    const config: unknown = JSON.parse(await readFile(path, 'utf8'))
    const size =
      typeof config === 'object' && config !== null && 'hidden_size' in config ? config.hidden_size : undefined
    return typeof size === 'number' && Number.isSafeInteger(size) && size > 0 && size <= 8192 ? size : undefined
  } catch {
    return undefined
  }
}

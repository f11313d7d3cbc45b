import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ConfigError } from '../config-error.ts'

/** The path of the file that `--config` names. Throws ConfigError unless it is a file. */
export async function namedFile(folder: string, file: string): Promise<string> {
  const path = resolve(folder, file)
  const found = await stat(path).catch(() => undefined)
  if (found === undefined)
    throw new ConfigError(`--config ${file}: there is no such file.`, { file: path, files: [path] })
  if (!found.isFile()) throw new ConfigError(`--config ${file}: is not a file.`, { file: path })
  return path
}

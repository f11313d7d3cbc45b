import { createWriteStream } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'

/** bin/agentserve.js sets it where it has put stdout, and stderr in its place. */
const variable = 'AGENTSERVE_MCP_OUTPUT'

/**
 * Takes stdout for messages alone: from now on everything that is printed there goes to stderr. Where the program could be
 * replaced, that includes what native code and other programs print.
 */
export function takeOutput(): Writable {
  const moved = process.env[variable]
  delete process.env[variable]
  if (moved !== undefined && /^\d$/.test(moved)) return open(Number(moved))
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  return new Writable({
    decodeStrings: false,
    write: (text: string | Buffer, _encoding, done) => void write(text as string, (error) => done(error)),
  })
}

/** A pipe, or else a file. */
function open(fd: number): Writable {
  try {
    return new Socket({ fd, readable: false, writable: true })
  } catch {
    return createWriteStream('', { fd })
  }
}

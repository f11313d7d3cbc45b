import { StringDecoder } from 'node:string_decoder'

/** Calls `tell` for each line of a stream; a line longer than `longest` is cut. */
export function eachLine(stream: NodeJS.ReadableStream, longest: number, tell: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let line = ''
  const take = (text: string) => {
    const room = longest - line.length
    if (room > 0) line += text.slice(0, room)
  }
  stream.on('data', (chunk: Buffer) => {
    const [first = '', ...rest] = decoder.write(chunk).split('\n')
    take(first)
    for (const next of rest) {
      tell(line)
      line = ''
      take(next)
    }
  })
  stream.on('end', () => {
    if (line !== '') tell(line)
  })
}

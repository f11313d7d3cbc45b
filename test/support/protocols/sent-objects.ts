/** The objects that an event stream has sent as data: without comments and a last line such as `[DONE]`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into them field by field
export function sentObjects(stream: string): Record<string, any>[] {
  return stream
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice(6)))
}

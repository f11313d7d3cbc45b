/** The event stream of WHATWG HTML 9.2.6, read by hand: an opinion independent of the one we ship. */
export function parseWhatwg(text: string): { type: string; data: string; id: string }[] {
  const events: { type: string; data: string; id: string }[] = []
  let data = ''
  let type = ''
  let id = ''
  let seen = false
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  // What follows the last line end is an incomplete line, and an event without its blank line is not dispatched.
  lines.pop()
  for (const line of lines) {
    if (line === '') {
      if (seen) events.push({ type: type === '' ? 'message' : type, data: data.slice(0, -1), id })
      data = ''
      type = ''
      seen = false
      continue
    }
    const colon = line.indexOf(':')
    if (colon === 0) continue
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'data') {
      data += `${value}\n`
      seen = true
    } else if (field === 'event') type = value
    else if (field === 'id' && !value.includes('\0')) id = value
  }
  return events
}

import { Pace } from '../../runtime/yield.ts'

export interface MarkupHandler {
  /** Names are in small letters in HTML. Of an attribute given twice, the first counts. */
  open?(name: string, attributes: Readonly<Record<string, string>>): void
  text?(piece: string): void
  close?(name: string): void
}

const partLength = 50_000

/** Reads tags one by one, without a tree or a stack: in time that grows with the length, whatever is nested in what. */
export async function readMarkup(text: string, kind: 'html' | 'xml', handler: MarkupHandler): Promise<void> {
  const { Tokenizer } = await import('htmlparser2')
  const named = (start: number, end: number) => {
    const name = text.slice(start, end)
    return kind === 'html' ? name.toLowerCase() : name
  }
  const ignore = () => {}
  let tag = ''
  let attributes: Record<string, string> = Object.create(null)
  let attribute = ''
  let value = ''
  const opened = () => handler.open?.(tag, attributes)
  const tokenizer = new Tokenizer(
    { xmlMode: kind === 'xml', decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = named(start, end)
        attributes = Object.create(null)
      },
      onattribname(start, end) {
        attribute = named(start, end)
        value = ''
      },
      onattribdata(start, end) {
        value += text.slice(start, end)
      },
      onattribentity(codePoint) {
        value += String.fromCodePoint(codePoint)
      },
      onattribend() {
        attributes[attribute] ??= value
      },
      onopentagend: opened,
      onselfclosingtag() {
        opened()
        handler.close?.(tag)
      },
      onclosetag: (start, end) => handler.close?.(named(start, end)),
      ontext: (start, end) => handler.text?.(text.slice(start, end)),
      ontextentity: (codePoint) => handler.text?.(String.fromCodePoint(codePoint)),
      oncdata: (start, end, behind) => handler.text?.(text.slice(start, end - behind)),
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  )
  const pace = new Pace()
  for (let at = 0; at < text.length; at += partLength) {
    tokenizer.write(text.slice(at, at + partLength))
    await pace.step()
  }
  tokenizer.end()
}

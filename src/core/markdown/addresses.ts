import { decoded } from './entities.ts'
import type { Found } from './inline.ts'

/** What is in the parentheses of a link. Everything that repeats has an end, so that no text takes long. */
const inside =
  /\(\s{0,9}(?:<((?:\\.|[^\\<>\n]){0,4000})>|(?!<)((?:\\.|[^\\()\s]|\((?:\\.|[^\\()\s]|\([^\\()\s]{0,999}\)){0,999}\)){0,4000}))(?:\s{1,9}(?:"(?:\\.|[^\\"]){0,999}"|'(?:\\.|[^\\']){0,999}'|\((?:\\.|[^\\()]){0,999}\)))?\s{0,9}\)/y
const angled = /<(?:([a-z][a-z\d+.-]{1,31}:[^\s<>]{0,4000})|([\w.!#$%&'*+/=?^`{|}~-]{1,99}@[a-z\d.-]{1,253}))>/iy
/** Until a character that no address has, or that ends a sentence of other writings. */
const naked = /(?:https?:\/\/|(www\.))[a-z\d][^\s<>"`[\]\u3000-\u303f\uff01-\uff65]*/iy
/** Its end is a word, unlike that of a package's version. */
const mail = /[\w.+-]+@[a-z\d_-]+(?:\.[a-z\d_-]+)*?\.[a-z]{2,63}(?![\w-]|\.[a-z\d])/iy

/** The address of a link whose text ends before `at`. */
export function target(text: string, at: number): { href: string; end: number } | undefined {
  inside.lastIndex = at
  const [whole, pointed, plain = ''] = inside.exec(text) ?? []
  if (whole === undefined) return undefined
  return { href: decoded((pointed ?? plain).replace(/\\([!-/:-@[-`{-~])/g, '$1')), end: at + whole.length }
}

/** `<https://…>` or `<name@host>`. */
export function addressIn(text: string, at: number): Found | undefined {
  angled.lastIndex = at
  const [whole = '', url, address] = angled.exec(text) ?? []
  const shown = url ?? address
  return shown === undefined ? undefined : linkTo(shown, url ?? `mailto:${shown}`, at + whole.length)
}

/** An address in the text, without what ends the sentence after it. */
export function nakedAddress(text: string, at: number): Found | undefined {
  naked.lastIndex = at
  mail.lastIndex = at
  const [url, start] = naked.exec(text) ?? []
  if (url !== undefined) {
    const shown = url.slice(0, endOf(url))
    return linkTo(shown, start === undefined ? shown : `http://${shown}`, at + shown.length)
  }
  const [address] = mail.exec(text) ?? []
  return address === undefined ? undefined : linkTo(address, `mailto:${address}`, at + address.length)
}

function linkTo(shown: string, href: string, end: number): Found {
  return { piece: { type: 'link', href, content: [{ type: 'text', text: shown }] }, end }
}

function endOf(url: string): number {
  let open = url.split('(').length - url.split(')').length
  let end = url.length
  for (; end > 0; end--) {
    const last = url.charAt(end - 1)
    if (last === ')' && open < 0) open++
    else if (!/[?!.,:;*_'~]/.test(last)) break
  }
  return end
}

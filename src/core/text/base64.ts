import { formatBytes } from './format.ts'

const shortest = 200
/** In one line, or in long ones as in mails. */
const begins = /^(?:[A-Za-z0-9+/_=-]{60,}\r?\n)*[A-Za-z0-9+/_=-]*\s*$/
const whole = /^[A-Za-z0-9+/_=\r\n-]+$/
const inText = /(data:[\w.+-]+\/[\w.+-]+(?:;[\w=.+-]+)*;base64,)([A-Za-z0-9+/_-]{40,}={0,2})/g

/** The text with files in it as their size: nobody reads base64. */
export function withoutBase64(text: string): string {
  if (text.length < 40) return text
  if (isBase64(text)) return `(base64, ${sizeOf(text)})`
  return text.includes(';base64,')
    ? text.replaceAll(inText, (_all, head: string, data: string) => `${head}(${sizeOf(data)})`)
    : text
}

/** Words without a blank have no digits and capitals at once. */
export function isBase64(text: string): boolean {
  if (text.length < shortest) return false
  const start = text.slice(0, 1000)
  return begins.test(start) && /[0-9]/.test(start) && /[A-Z]/.test(start) && /[a-z]/.test(start) && whole.test(text)
}

function sizeOf(data: string): string {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return formatBytes(Math.floor((data.length * 3) / 4) - padding)
}

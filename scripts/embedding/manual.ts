import { collector, type Document } from './markup.ts'

const styled = /^(B|I|BR|RB|IR|RI|BI|IB|SM|Nm|Fl|Ar|Cm|Ic|Pa|Xr|Dq|Sq|Ql|Li|Em|Sy|Ev|Va|Dv|Fn|Nd|Pq|Op|Ft|Fa|Vt)$/
const inner = /\b(Fl|Ar|Cm|Ic|Li|Pa|Ns|Ev|Va|Dv|Xr|Fn|Fa|No|Em|Sy|Pq|Op|Xo|Xc) /g
const telling = /^(?!(?:synopsis|see also|authors?|copyright|history)$)/i

/** A manual page, in man (.SH, .TP) or mdoc (.Sh, .It): its sections, and the items of its lists. */
export function sectionsOfManual(source: string): Document {
  const text = source
    .replace(/\\f(\(..|\[[^\]]*\]|.)/g, '')
    .replace(/\\s[-+]?\d/g, '')
    .replace(/\\\((aq|cq)/g, "'")
    .replace(/\\\((lq|rq)/g, '"')
    .replace(/\\\(bu|\\&/g, '')
    .replaceAll('\\-', '-')
    .replaceAll('\\e', '\\')
    .replaceAll('\\ ', ' ')
  let title = ''
  let isItem = false
  const { sections, heading, line: add, flush, close } = collector((body) => body.replace(/[ \t]+/g, ' ').trim())
  for (const line of text.split('\n')) {
    if (/^[.']\s*\\"/.test(line)) continue
    const macro = /^[.']\s*(\w+)\s*(.*)$/.exec(line)
    const name = macro?.[1] ?? ''
    const rest = (macro?.[2] ?? '').replaceAll('"', ' ').replace(/\s+/g, ' ').trim()
    let shown = line
    if (name === 'TH' || name === 'Dt') {
      title = (rest.split(' ')[0] ?? '').toLowerCase()
      continue
    }
    if (/^(SH|Sh|SS|Ss)$/.test(name)) {
      heading(name.toLowerCase() === 'sh' ? 1 : 2, rest === rest.toUpperCase() ? rest.toLowerCase() : rest)
      continue
    }
    if (name === 'TP') {
      close(3)
      isItem = true
      continue
    }
    if ((name === 'It' || name === 'IP') && rest.length > 3) {
      heading(3, rest.replace(inner, ''))
      continue
    }
    if (styled.test(name)) shown = rest.replace(inner, '')
    else if (/^(PP|P|LP|Pp|sp|br)$/.test(name)) shown = ''
    else if (macro) continue
    if (isItem && shown.trim() !== '') {
      heading(3, shown.trim())
      isItem = false
    } else add(shown)
  }
  flush()
  return { title, description: '', sections: sections.filter(({ path }) => telling.test(path[0] ?? '')) }
}

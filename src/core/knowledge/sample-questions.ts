/** A document with the headings under which it has text. */
export interface Outline {
  source: string
  /** As the document calls itself. */
  title: string | undefined
  headings: readonly string[]
}

/** What only says where in a document a reader is. */
const structural =
  /^(?:(?:table of )?contents?|toc|overview|introduction|intro|preface|about|summary|conclusion|notes?|references?|links?|see also|further reading|where to go next|next steps?|appendix|index|readme|changelog|change log|history|licen[cs]e|licensing|contributing|contributors|authors?|credits|acknowledge?ments|unreleased|faq|todo|examples?|usage|misc(?:ellaneous)?|other)$/i
/** Chapter 3, 1.2.0, 2026-01-31: numbers and names of parts. */
const numbered = /^(?:(?:chapter|part|section|step|version|appendix)\s+)?v?[\d.\-/\s[\]]+$/i
const verbs = new Set(
  (
    'add allow apply approve ask attach avoid backup build call cancel change check choose clean clone compare compile configure connect ' +
    'contribute create debug define delete deploy disable download edit embed enable export extend find fix generate get give import ' +
    'ingest install integrate join keep load make manage measure merge migrate move open pause prepare protect publish read register ' +
    'remove rename rent replace reset resolve restart restore resume save search secure see send serve set show start stop switch sync ' +
    'translate troubleshoot tune uninstall update upgrade upload use validate verify view write'
  ).split(' '),
)
/** Nouns too: a verb only before one of `markers`. */
const nounsToo = new Set(
  'copy filter format handle host limit list log mark monitor name order print record release repeat report retry return run scale schedule share store stream test track turn watch work'.split(
    ' ',
  ),
)
const markers = new Set('a all an another any in more my on one several the two with without your'.split(' '))
/** What they stand for is above the heading. */
const pronoun = /\b(?:it|them|they|this|that|these|those|here)\b/i
/** A question but for its mark; other headings with a question word are clauses. */
const whole =
  /^(?:what|who|which|where|when|why) (?:is|are|was|were|does|do|did|can|may|happens) .|^how (?:do|does|can|is|are) (?:a|an|i|the|you|we|it) /i
const clause = /^(?:what|who|which|where|when|why|how|if|from|with|without)\b/i
const longestHeading = 60
/** A document or heading of such a name is what newcomers ask about. */
const forNewcomers = /readme|getting[-_ ]?started|quick[-_ ]?start|tutorial|introduction|guide|faq|install/i

interface Candidate {
  question: string
  rank: number
  source: string
}

/**
 * Questions that the headings of documents answer, the most natural first; at most one of a document while there are others.
 * The same outlines give the same questions.
 */
export function sampleQuestions(outlines: readonly Outline[]): string[] {
  const turns = outlines
    .map((outline) => candidatesOf(outline))
    .filter((candidates) => candidates.length > 0)
    .sort((one, other) => rankOf(one) - rankOf(other) || compare(one[0]?.source, other[0]?.source))
  const longest = Math.max(0, ...turns.map(({ length }) => length))
  const inTurn = Array.from({ length: longest }, (_, turn) => turns.flatMap((of) => of[turn] ?? [])).flat()
  return [...new Set(inTurn.map(({ question }) => question))]
}

function candidatesOf({ source, title, headings }: Outline): Candidate[] {
  const bonus = forNewcomers.test(`${source} ${title ?? ''}`) ? -0.5 : 0
  const all = [...headings, ...(title === undefined ? [] : [title])].flatMap((heading, place) => {
    const asked = toQuestion(heading, title)
    // The title says least of what stands below it.
    const rank =
      asked === undefined ? 0 : asked.rank + bonus + (place === headings.length || heading === title ? 1.5 : 0)
    return asked === undefined ? [] : [{ question: asked.question, rank, source }]
  })
  return all.sort((one, other) => one.rank - other.rank)
}

function rankOf([first]: readonly Candidate[]): number {
  return first?.rank ?? 0
}

function compare(one = '', other = ''): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** `rank`: 0 for a heading that is a question itself. Undefined where nobody would ask. */
function toQuestion(heading: string, title = ''): { question: string; rank: number } | undefined {
  const plain = plainText(heading)
  if (
    plain === '' ||
    plain.length > longestHeading ||
    structural.test(plain) ||
    numbered.test(plain) ||
    pronoun.test(plain)
  )
    return undefined
  if (plain.endsWith('?')) return { question: plain, rank: 0 }
  if (whole.test(plain) && !/[:;]/.test(plain)) return { question: `${plain}?`, rank: 0.5 }
  const how = /^how to (.+)$/i.exec(plain)?.[1]
  if (how !== undefined) return { question: `How do I ${yours(how)}?`, rank: 1 }
  const [first = ''] = plain.split(' ', 1)
  const rest = plain.slice(first.length)
  const verb = verbOf(first.toLowerCase(), rest.trim().split(' ', 1)[0] ?? '')
  if (verb !== undefined && !/[:;,]/.test(rest)) return { question: `How do I ${verb}${yours(rest)}?`, rank: 1 }
  const whose = plainText(title)
  const rank = clause.test(plain) ? 2.5 : 2
  if (whose === '' || whose === plain || whose.length + plain.length > longestHeading)
    return { question: `What does “${plain}” say?`, rank }
  return { question: `What does “${whose}” say about “${plain}”?`, rank }
}

function verbOf(first: string, next: string): string | undefined {
  if (next === '') return undefined
  if (verbs.has(first) || (nounsToo.has(first) && markers.has(next.toLowerCase()))) return first
  return baseOf(first)
}

/** Getting → get, using → use, adding → add. */
function baseOf(word: string): string | undefined {
  const stem = /^(.{2,})ing$/.exec(word)?.[1]
  if (stem === undefined) return undefined
  return [stem, `${stem}e`, stem.slice(0, -1)].find((base) => verbs.has(base) || nounsToo.has(base))
}

function yours(text: string): string {
  return text.replace(/\byour\b/gi, 'my').replace(/\byou\b/g, 'I')
}

/** Without the marks of Markdown, numbers before it, and a full stop or colon at its end; in one line. */
function plainText(heading: string): string {
  return heading
    .replace(/\s+/g, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])|<[^>]*>|\{#[^}]*\}/gu, '')
    .replace(/[\p{Cc}\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069]+/gu, '')
    .replace(/^\s*(?:\d+[.)]\s*)+/, '')
    .replace(/[\s.:#]+$/, '')
    .trim()
}

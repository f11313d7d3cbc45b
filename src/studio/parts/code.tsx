import type { ComponentChild, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { type CodeWord, codeWords, languageName } from '../../core/text/code-words.ts'
import { CopyButton } from './copy.tsx'

interface CodeProps {
  text: string
  /** What follows the fence: its first word names the language. */
  lang: string
  isWhole: boolean
}

/** Code with what copies it, in colours when its language is known and all of it is there. */
export function Code({ text, lang, isWhole }: CodeProps): JSX.Element {
  const words = useMemo(() => (isWhole ? codeWords(text, lang) : undefined), [isWhole, text, lang])
  return (
    <figure class="code">
      <figcaption>
        <span>{languageName(lang)}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled to by keys */}
      <pre tabIndex={0}>
        <code dir="ltr">{words?.map(draw) ?? text}</code>
      </pre>
    </figure>
  )
}

function draw({ kind, text }: CodeWord): ComponentChild {
  return kind === undefined ? text : <span class={`code-${kind}`}>{text}</span>
}

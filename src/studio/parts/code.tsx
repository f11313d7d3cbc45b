import { signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { CopyButton } from './copy.tsx'

type Colours = typeof import('./colours.tsx')

const longestColoured = 50_000
/** Loaded with the first code that is shown. */
const colours = signal<Colours | undefined>(undefined)
let isLoading = false

function loadColours(): void {
  if (isLoading) return
  isLoading = true
  import('./colours.tsx').then(
    (loaded) => {
      colours.value = loaded
    },
    () => {
      // Code without colours is whole; the next code that is shown tries again.
      isLoading = false
    },
  )
}

interface CodeProps {
  text: string
  /** What follows the fence: its first word names the language. */
  lang: string
  isWhole: boolean
}

/** Code with what copies it, in colours when its language is known and all of it is there. */
export function Code({ text, lang, isWhole }: CodeProps): JSX.Element {
  const name = /^[\w+#.-]*/.exec(lang.trim())?.[0].toLowerCase() ?? ''
  const isColoured = isWhole && name !== '' && text.length <= longestColoured
  useEffect(() => {
    if (isColoured) loadColours()
  }, [isColoured])
  const painter = isColoured ? colours.value : undefined
  const painted = useMemo(() => painter?.paint(text, name), [painter, text, name])
  return (
    <figure class="code">
      <figcaption>
        <span>{name}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled to by keys */}
      <pre tabIndex={0}>
        <code dir="ltr">{painted ?? text}</code>
      </pre>
    </figure>
  )
}

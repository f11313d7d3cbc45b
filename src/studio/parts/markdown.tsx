import { Lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren, JSX } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { BlockSplitter } from '../../core/text/blocks.ts'
import { CopyButton } from './copy.tsx'

/** Deeper lists and quotes are shown as source. */
const deepest = 6

/**
 * Markdown of a model as elements. No HTML is ever made of it: what is HTML in the text is shown as text. Pictures are not
 * loaded, since an address in a text could carry away what is in the conversation.
 */
export function Markdown({ text }: { text: string }): JSX.Element {
  const splitter = useRef<{ splitter: BlockSplitter; length: number; closed: string[] }>(undefined)
  const known = splitter.current
  const isLonger = known !== undefined && text.length >= known.length
  const state = isLonger ? known : { splitter: new BlockSplitter(), length: 0, closed: [] }
  for (const block of state.splitter.push(text.slice(state.length))) state.closed.push(block.text)
  state.length = text.length
  splitter.current = state
  return (
    <div class="markdown" dir="auto">
      {state.closed.map((block, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end, so a block keeps its place.
        <MarkdownBlock key={place} text={block} />
      ))}
      <MarkdownBlock text={state.splitter.open.text} />
    </div>
  )
}

/** Read again only when its text has changed: the open block while it is written. */
function MarkdownBlock({ text }: { text: string }): JSX.Element {
  return useMemo(() => <>{toBlocks(read(text), 0)}</>, [text])
}

function read(text: string): Token[] {
  try {
    return Lexer.lex(text)
  } catch {
    // Thousands of nested brackets or quotes overflow the stack.
    return [{ type: 'html', raw: text, text } as Tokens.HTML]
  }
}

function toBlocks(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token) => toBlock(token, depth))
}

function toBlock(token: Token, depth: number): ComponentChildren {
  if (depth > deepest) return <pre>{token.raw}</pre>
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading': {
      const { depth: level, tokens = [] } = token as Tokens.Heading
      // Below the page's own headings.
      const Level = `h${Math.min(6, level + 2)}` as 'h3'
      return <Level>{toInline(tokens)}</Level>
    }
    case 'code':
      return <Code {...(token as Tokens.Code)} />
    case 'blockquote':
      return <blockquote>{toBlocks(token.tokens ?? [], depth + 1)}</blockquote>
    case 'list':
      return toList(token as Tokens.List, depth)
    case 'table':
      return toTable(token as Tokens.Table)
    case 'hr':
      return <hr />
    case 'paragraph':
      return <p>{toInline(token.tokens ?? [])}</p>
    case 'text':
      return <p>{token.tokens === undefined ? token.raw : toInline(token.tokens)}</p>
    default:
      return <p>{token.raw}</p>
  }
}

function Code({ text, lang }: Tokens.Code): JSX.Element {
  return (
    <figure class="code">
      <figcaption>
        <span>{lang ?? ''}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled to by keys */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

function toList({ ordered, start, items }: Tokens.List, depth: number): JSX.Element {
  const content = items.map((item, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have nothing but their place
    <li key={place}>
      {item.task ? <input type="checkbox" checked={item.checked === true} disabled /> : null}
      {item.tokens.map((token) => (token.type === 'text' ? toInline(token.tokens ?? []) : toBlock(token, depth + 1)))}
    </li>
  ))
  return ordered ? <ol start={typeof start === 'number' ? start : 1}>{content}</ol> : <ul>{content}</ul>
}

function toTable({ header, rows }: Tokens.Table): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled to by keys
    <div class="wide" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells have nothing but their place
              <th key={place}>{toInline(tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <tr key={row}>
              {cells.map(({ tokens }, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <td key={place}>{toInline(tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function toInline(tokens: readonly Token[]): ComponentChildren {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have nothing but their place
  return tokens.map((token, place) => <Inline key={place} token={token} />)
}

function Inline({ token }: { token: Token }): JSX.Element {
  switch (token.type) {
    case 'strong':
      return <strong>{toInline(token.tokens ?? [])}</strong>
    case 'em':
      return <em>{toInline(token.tokens ?? [])}</em>
    case 'del':
      return <del>{toInline(token.tokens ?? [])}</del>
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>
    case 'br':
      return <br />
    case 'link':
      return <Link {...(token as Tokens.Link)} />
    case 'image': {
      const { text, href } = token as Tokens.Image
      return (
        <span class="picture">
          {text} ({href})
        </span>
      )
    }
    case 'escape':
      return <>{(token as Tokens.Escape).text}</>
    case 'text':
      return <>{token.tokens === undefined ? (token as Tokens.Text).text : toInline(token.tokens)}</>
    default:
      return <>{token.raw}</>
  }
}

function Link({ href, tokens }: Tokens.Link): JSX.Element {
  const isSafe = /^(?:https?:\/\/|mailto:)/i.test(href)
  const content = toInline(tokens)
  if (!isSafe) return <span>{content}</span>
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {content}
    </a>
  )
}

import { Lexer, type Token, type Tokens } from 'marked'
import { type ComponentChildren, createContext, type JSX } from 'preact'
import { useContext, useMemo, useRef, useState } from 'preact/hooks'
import { BlockSplitter } from '../../core/text/blocks.ts'
import { gapOf, joinCode } from './blocks.ts'
import { Code } from './code.tsx'
import { formatCount } from './format.ts'

/** Deeper lists and quotes are shown as source. */
const deepest = 6
/** Deeper emphasis, too. */
const deepestInline = 16
const longestAddress = 200

/** Where a number in brackets leads, and what it is called; undefined for one that is no source. */
export type Cite = (index: number) => { href: string; title: string } | undefined

/** The sources that the text below may cite. */
export const Citations = createContext<Cite | undefined>(undefined)

interface MarkdownProps {
  text: string
  /** More comes: the last block may not be whole yet. */
  growing?: boolean
}

/**
 * Markdown of a model as elements. No HTML is ever made of it: what is HTML in the text is shown as text. Pictures are not
 * loaded, since an address in a text could carry away what is in the conversation. Of a very long text the middle waits to be asked
 * for.
 */
export function Markdown({ text, growing = false }: MarkdownProps): JSX.Element {
  const kept = useRef<{ splitter: BlockSplitter; length: number; closed: string[] }>(undefined)
  const [isWhole, setWhole] = useState(false)
  const known = kept.current
  const isLonger = known !== undefined && text.length >= known.length
  const state = isLonger ? known : { splitter: new BlockSplitter(), length: 0, closed: [] }
  for (const block of state.splitter.push(text.slice(state.length))) joinCode(state.closed, block)
  state.length = text.length
  kept.current = state
  const { closed } = state
  const blocks = [...closed]
  joinCode(blocks, state.splitter.open)
  const gap = isWhole ? undefined : gapOf(blocks)
  const draw = (from: number, to: number) =>
    blocks.slice(from, to).map((block, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end, so a block keeps its place.
      <MarkdownBlock key={from + place} text={block} growing={growing && from + place >= closed.length} />
    ))
  return (
    <div class="markdown" dir="auto">
      {draw(0, gap?.from ?? blocks.length)}
      {gap === undefined ? null : (
        <p key="gap">
          <button type="button" onClick={() => setWhole(true)}>
            Show {formatCount(gap.characters)} more characters
          </button>
        </p>
      )}
      {gap === undefined ? null : draw(gap.to, blocks.length)}
    </div>
  )
}

/** Read again only when its text has changed: the open block while it is written. */
function MarkdownBlock({ text, growing }: { text: string; growing: boolean }): JSX.Element {
  const cite = useContext(Citations)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn below asks for the sources itself
  return useMemo(() => <>{toBlocks(read(text), 0, growing)}</>, [text, growing, cite])
}

function read(text: string): Token[] {
  try {
    return Lexer.lex(text)
  } catch {
    // Thousands of nested brackets or quotes overflow the stack.
    return [{ type: 'html', raw: text, text } as Tokens.HTML]
  }
}

function toBlocks(tokens: readonly Token[], depth: number, growing = false): ComponentChildren {
  return tokens.map((token) => toBlock(token, depth, growing))
}

function toBlock(token: Token, depth: number, growing = false): ComponentChildren {
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
      return <Code text={(token as Tokens.Code).text} lang={(token as Tokens.Code).lang ?? ''} isWhole={!growing} />
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

function toInline(tokens: readonly Token[], depth = 0): ComponentChildren {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have nothing but their place
  return tokens.map((token, place) => <Inline key={place} token={token} depth={depth} />)
}

function Inline({ token, depth }: { token: Token; depth: number }): JSX.Element {
  if (depth > deepestInline) return <>{token.raw}</>
  switch (token.type) {
    case 'strong':
      return <strong>{toInline(token.tokens ?? [], depth + 1)}</strong>
    case 'em':
      return <em>{toInline(token.tokens ?? [], depth + 1)}</em>
    case 'del':
      return <del>{toInline(token.tokens ?? [], depth + 1)}</del>
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
          {text} ({href.slice(0, longestAddress)}
          {href.length > longestAddress ? '…' : ''})
        </span>
      )
    }
    case 'escape':
      return <>{(token as Tokens.Escape).text}</>
    case 'text':
      if (token.tokens === undefined) return <Words text={(token as Tokens.Text).text} />
      return <>{toInline(token.tokens)}</>
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

/** `[1]`, `[1, 2]` or `[1-3]`, as `markCited` takes them. */
const citation = /(\[\d{1,4}(?: ?[-–—,;] ?\d{1,4})*\])/

/** Numbers of sources lead to their passages. */
function Words({ text }: { text: string }): JSX.Element {
  const cite = useContext(Citations)
  if (cite === undefined || !text.includes('[')) return <>{text}</>
  return (
    <>
      {text.split(citation).map((piece, place) =>
        place % 2 === 0
          ? piece
          : piece.split(/(\d+)/).map((number, inside) => {
              const source = inside % 2 === 0 ? undefined : cite(Number(number))
              if (source === undefined) return number
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have nothing but their place
                <a key={`${place}.${inside}`} class="cite" href={source.href} title={source.title}>
                  {number}
                </a>
              )
            }),
      )}
    </>
  )
}

import { Component, type ComponentChildren, createContext, type JSX } from 'preact'
import { useContext, useRef, useState } from 'preact/hooks'
import { BlockSplitter } from '../../core/markdown/blocks.ts'
import { type Block, type Inline, type List, readMarkdown, type Table } from '../../core/markdown/markdown.ts'
import { citation } from '../../core/text/citations.ts'
import { formatCount } from '../../core/text/format.ts'
import { gapOf } from './blocks.ts'
import { Code } from './code.tsx'

const longestAddress = 200
/** Longer code is shown in pieces. */
const longestCode = 200_000

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
  const state = isLonger ? known : { splitter: new BlockSplitter(longestCode), length: 0, closed: [] }
  for (const block of state.splitter.push(text.slice(state.length))) state.closed.push(block.text)
  state.length = text.length
  kept.current = state
  const { closed } = state
  const open = state.splitter.open.text
  const blocks = open === '' ? closed : [...closed, open]
  const gap = isWhole ? undefined : gapOf(blocks)
  const draw = (from: number, to: number) =>
    blocks.slice(from, to).map((block, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: text only grows at its end, so a block keeps its place.
      <MarkdownBlock key={from + place} text={block} growing={growing && from + place >= closed.length} />
    ))
  return (
    <div class="markdown" dir="auto">
      {draw(0, gap?.from ?? blocks.length)}
      {gap && (
        <p key="gap">
          <button type="button" onClick={() => setWhole(true)}>
            Show {formatCount(gap.characters)} more characters
          </button>
        </p>
      )}
      {gap && draw(gap.to, blocks.length)}
    </div>
  )
}

interface BlockProps {
  text: string
  growing: boolean
}

/**
 * Read again only when its text has changed: the open block while it is written. Elements that a hook kept would hold the page as it
 * was when they were made, and that one the page before.
 */
class MarkdownBlock extends Component<BlockProps> {
  override shouldComponentUpdate({ text, growing }: BlockProps): boolean {
    return text !== this.props.text || growing !== this.props.growing
  }

  override render({ text, growing }: BlockProps): JSX.Element {
    return <>{toBlocks(readMarkdown(text), growing)}</>
  }
}

function toBlocks(blocks: readonly Block[], growing = false): ComponentChildren {
  return blocks.map((block) => toBlock(block, growing))
}

function toBlock(block: Block, growing: boolean): ComponentChildren {
  switch (block.type) {
    case 'heading': {
      // Below the page's own headings.
      const Level = `h${Math.min(6, block.level + 2)}` as 'h3'
      return <Level>{toInline(block.content)}</Level>
    }
    case 'paragraph':
      return <p>{toInline(block.content)}</p>
    case 'code':
      return <Code text={block.text} lang={block.lang} isWhole={!growing} />
    case 'quote':
      return <blockquote>{toBlocks(block.blocks)}</blockquote>
    case 'list':
      return toList(block)
    case 'table':
      return toTable(block)
    case 'rule':
      return <hr />
    case 'source':
      return <pre>{block.text}</pre>
  }
}

function toList({ start, loose, items }: List): JSX.Element {
  const content = items.map(({ done, blocks }, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have nothing but their place
    <li key={place}>
      {done === undefined ? null : <input type="checkbox" checked={done} disabled />}
      {blocks.map((block) => (block.type === 'paragraph' && !loose ? toInline(block.content) : toBlock(block, false)))}
    </li>
  ))
  return start === undefined ? <ul>{content}</ul> : <ol start={start}>{content}</ol>
}

function toTable({ head, rows }: Table): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled to by keys
    <div class="wide" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells have nothing but their place
              <th key={place}>{toInline(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <tr key={row}>
              {cells.map((cell, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <td key={place}>{toInline(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function toInline(pieces: readonly Inline[]): ComponentChildren {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have nothing but their place
  return pieces.map((piece, place) => <Piece key={place} piece={piece} />)
}

function Piece({ piece }: { piece: Inline }): JSX.Element {
  switch (piece.type) {
    case 'strong':
      return <strong>{toInline(piece.content)}</strong>
    case 'em':
      return <em>{toInline(piece.content)}</em>
    case 'del':
      return <del>{toInline(piece.content)}</del>
    case 'code':
      return <code>{piece.text}</code>
    case 'break':
      return <br />
    case 'link':
      return <Link href={piece.href} content={toInline(piece.content)} />
    case 'image': {
      const { text, href } = piece
      return (
        <span class="picture">
          {text} ({href.slice(0, longestAddress)}
          {href.length > longestAddress ? '…' : ''})
        </span>
      )
    }
    case 'literal':
      return <>{piece.text}</>
    case 'text':
      return <Words text={piece.text} />
  }
}

function Link({ href, content }: { href: string; content: ComponentChildren }): JSX.Element {
  const isSafe = /^(?:https?:\/\/|mailto:)/i.test(href)
  if (!isSafe) return <span>{content}</span>
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {content}
    </a>
  )
}

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

import { renderToString } from 'ink'
import { type Block, BlockSplitter } from '../../core/markdown/blocks.ts'
import type { Paint } from '../terminal/paint.ts'
import { Markdown } from './markdown.tsx'

export interface MarkdownWriterOptions {
  columns: number
  paint: Paint
}

/** Streamed Markdown as lines for a terminal. A block comes when later text can't change how it looks. */
export class MarkdownWriter {
  readonly #options: MarkdownWriterOptions
  #splitter = new BlockSplitter()
  #isFirst = true

  constructor(options: MarkdownWriterOptions) {
    this.#options = options
  }

  /** Takes text that is safe for the terminal; gives the whole lines of the blocks that it closed. */
  push(text: string): string {
    return this.#draw(this.#splitter.push(text.replaceAll('\t', '    ')))
  }

  /** The lines of what is still open. More text may follow, as a block of its own. */
  end(): string {
    return this.#draw(this.#splitter.end())
  }

  #draw(blocks: readonly Block[]): string {
    return blocks.map((block) => this.#drawBlock(block)).join('')
  }

  #drawBlock({ text, joined }: Block): string {
    const { columns, paint } = this.#options
    const lines = renderToString(<Markdown text={text} columns={columns} paint={paint} />, { columns })
    const apart = this.#isFirst || joined ? '' : '\n'
    this.#isFirst = false
    return `${apart}${lines}\n`
  }
}

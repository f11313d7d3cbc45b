import { AppError } from '../../core/error.ts'
import type { Knowledge } from '../../core/knowledge/knowledge.ts'
import { fenceOf } from '../../models/passage-blocks.ts'
import type { Widen } from '../../models/quote.ts'

/** A hit with the chunks before and after it, so that what is cut there can be quoted whole. */
export function around(knowledge: Pick<Knowledge, 'getChunk'>): Widen {
  return async (hit) => {
    const alone = { content: hit.content, shift: 0, line: hit.line_start }
    const found = await knowledge.getChunk(hit.chunk_id, 1).catch((error: unknown) => {
      // Replaced or deleted since the search.
      if (error instanceof AppError && error.code === 'chunk_not_found') return undefined
      throw error
    })
    if (found === undefined || found.content !== hit.content) return alone
    const before = found.before.filter(({ content }) => !endsInCode(content, hit.source))
    const first = before[0] ?? found
    let content = ''
    let end = first.start_offset
    for (const chunk of [...before, found, ...found.after]) {
      if (chunk.start_offset > end) return alone
      content += chunk.content.slice(end - chunk.start_offset)
      end = Math.max(end, chunk.end_offset)
    }
    return { content, shift: found.start_offset - first.start_offset, line: first.line_start }
  }
}

/** Whether code is open at the end of a chunk, or at its beginning: its fences would be taken the wrong way round. */
function endsInCode(content: string, source: string): boolean {
  const fence = fenceOf(source)
  return content.split('\n').filter((line) => fence.test(line)).length % 2 === 1
}

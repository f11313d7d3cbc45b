import type { Chunker } from '../../core/knowledge/drivers.ts'
import { codeChunker } from './code.ts'
import { markdownChunker } from './markdown.ts'
import { characterChunker, paragraphChunker, sentenceChunker } from './plain.ts'

export const chunkers: readonly Chunker[] = [
  characterChunker,
  sentenceChunker,
  paragraphChunker,
  markdownChunker,
  codeChunker,
]

import type { Chunker } from '../../core/knowledge-drivers.ts'
import { markdownChunker } from './markdown.ts'
import { characterChunker, codeChunker, paragraphChunker, sentenceChunker } from './plain.ts'

export const chunkers: readonly Chunker[] = [
  characterChunker,
  sentenceChunker,
  paragraphChunker,
  markdownChunker,
  codeChunker,
]

import { signal } from '@preact/signals'
import type { Studio } from './studio.ts'

/** An export that is looked at. It is nowhere else: a page that is loaded again has forgotten it. */
export const droppedFile = signal<File | undefined>(undefined)

/** Shows what is dropped on the page, until the function that it returns is called. In a conversation other files go with the message. */
export function takeDroppedFiles(studio: Studio): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
  }
  const drop = (event: DragEvent) => {
    const files = event.dataTransfer?.files
    const file = files?.[0]
    if (file === undefined || !(event.target instanceof Element)) return
    const isExport = files?.length === 1 && file.name.endsWith('.jsonl')
    if (event.target.closest(isExport ? '.composer' : 'main.conversation') !== null) return
    event.preventDefault()
    event.stopPropagation()
    droppedFile.value = file
    studio.go({ page: 'file' })
  }
  document.addEventListener('dragover', over)
  document.addEventListener('drop', drop, true)
  return () => {
    document.removeEventListener('dragover', over)
    document.removeEventListener('drop', drop, true)
  }
}

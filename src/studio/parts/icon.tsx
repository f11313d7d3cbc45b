import type { JSX } from 'preact'

/** Drawn, since not every machine has the characters. In a box of 16. */
const paths = {
  running: 'M8 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z',
  queued: 'M2 7h2v2H2zM7 7h2v2H7zM12 7h2v2h-2z',
  waiting: 'M4 3h3v10H4zM9 3h3v10H9z',
  done: 'M3 8.5 6.5 12 13 4.5 11.5 3 6.5 9 4.5 7z',
  failed: 'M4.5 3 8 6.5 11.5 3 13 4.5 9.5 8l3.5 3.5-1.5 1.5L8 9.5 4.5 13 3 11.5 6.5 8 3 4.5z',
  cancelled:
    'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Zm-4 6a4 4 0 0 1 6.3-3.3L4.7 10.3A4 4 0 0 1 4 8Zm4 4a4 4 0 0 1-2.3-.7l5.6-5.6A4 4 0 0 1 8 12Z',
  interrupted: 'M9 1 3 9h4l-1 6 7-9H9z',
  run: 'M3 5h10l-5 7z',
  search: 'M7 2a5 5 0 1 0 2.8 9.1l3 3 1.4-1.4-3-3A5 5 0 0 0 7 2Zm0 2a3 3 0 1 1 0 6 3 3 0 0 1 0-6Z',
  model: 'M8 1l1.8 5.2L15 8l-5.2 1.8L8 15l-1.8-5.2L1 8l5.2-1.8z',
  tool: 'M10 2a4 4 0 0 0-3.7 5.4L2 11.7 4.3 14l4.3-4.3A4 4 0 0 0 13.7 5L11 7.5 8.5 5 11.2 2.2A4 4 0 0 0 10 2Z',
  step: 'M8 2l6 6-6 6-6-6z',
  fold: 'M3.4 5 8 9.6 12.6 5 14 6.4l-6 6-6-6z',
  end: 'M4 4h8v8H4z',
  close: 'M4.5 3 8 6.5 11.5 3 13 4.5 9.5 8l3.5 3.5-1.5 1.5L8 9.5 4.5 13 3 11.5 6.5 8 3 4.5z',
} as const
export type IconName = keyof typeof paths

/** Says nothing by itself: words stand beside it. */
export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={paths[name]} fill="currentColor" />
    </svg>
  )
}

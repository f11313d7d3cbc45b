import { signal } from '@preact/signals'
import type { JSX, TargetedPointerEvent } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

const kept = 'agentserve.run-width'
const least = 28
const usual = 42
const most = 66
/** In percent of the page. */
const width = signal(Number(localStorage.getItem(kept)) || usual)
const steps: Readonly<Record<string, () => number>> = {
  ArrowLeft: () => width.value + 2,
  ArrowRight: () => width.value - 2,
  Home: () => least,
  End: () => most,
  Enter: next,
}

/** Between the conversation and the run: it is dragged or moved by arrow keys, and a click takes the next of three widths. */
export function Splitter(): JSX.Element {
  const element = useRef<HTMLDivElement>(null)
  const hasMoved = useRef(false)
  const now = width.value
  useLayoutEffect(() => {
    element.current?.parentElement?.style.setProperty('--run', `${now}%`)
  })
  const drag = ({ currentTarget, pointerId, clientX, movementX }: TargetedPointerEvent<HTMLDivElement>) => {
    if (!currentTarget.hasPointerCapture(pointerId) || movementX === 0) return
    hasMoved.current = true
    choose(100 - (100 * clientX) / innerWidth)
  }
  return (
    <div
      ref={element}
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the run"
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={Math.round(now)}
      onPointerDown={({ currentTarget, pointerId }) => {
        hasMoved.current = false
        currentTarget.setPointerCapture(pointerId)
      }}
      onPointerMove={drag}
      onClick={() => hasMoved.current || choose(next())}
      onKeyDown={(event) => {
        const step = event.ctrlKey || event.metaKey || event.altKey ? undefined : steps[event.key]
        if (step === undefined) return
        event.preventDefault()
        event.stopPropagation()
        choose(step())
      }}
    />
  )
}

function choose(percent: number): void {
  width.value = Math.max(least, Math.min(most, percent))
  localStorage.setItem(kept, `${width.value}`)
}

function next(): number {
  return [usual, most].find((one) => one > width.value + 1) ?? least
}

import type { ComponentChildren, JSX } from 'preact'

/** An entry of a list of facts; nothing where nothing is known. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element | null {
  return !children ? null : (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  )
}

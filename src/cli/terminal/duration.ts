/** For people: `12 ms`, `1.4 s`, `2 min 4 s`. */
export function formatDuration(ms: number): string {
  const rounded = Math.round(ms)
  if (rounded < 1_000) return `${rounded} ms`
  if (rounded < 59_950) return `${(rounded / 1_000).toFixed(1)} s`
  const seconds = Math.round(rounded / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

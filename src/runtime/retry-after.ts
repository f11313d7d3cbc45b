/** The time that a `Retry-After` header asks for: seconds, or a date (RFC 9110, 10.2.3). */
export function retryAfterMs(header: string | string[] | undefined): number | undefined {
  const value = typeof header === 'string' ? header.trim() : ''
  if (value === '') return undefined
  const milliseconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds)
}

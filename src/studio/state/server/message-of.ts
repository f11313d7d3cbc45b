/** What to tell a person of a failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Whether the server answered with it. */
export function hasStatus(error: unknown, status: number): boolean {
  return error instanceof Error && 'status' in error && error.status === status
}

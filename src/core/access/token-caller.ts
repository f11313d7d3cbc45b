export const tokenPrefix = 'jwt:'

/**
 * The id of a caller with a token. The id of a key has no colon, and spaces divide the parts of an idempotency key.
 */
export function tokenCaller(userId: string): string {
  return `${tokenPrefix}${userId.replace(/[\s%]/g, encodeURIComponent)}`
}

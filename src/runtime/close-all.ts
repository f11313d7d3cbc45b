/** Closes one after the other, also those after one that fails. Throws the first failure when all are done. */
export async function closeAll(...closes: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of closes) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** What every server of the benchmark says, a piece of about the length of a model's. */
export function fragment(index: number): string {
  return `fragment ${index} of it, `
}

/** Whether a text column can hold it. What it can't hold, no statement finds: as a parameter it fails the statement. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}

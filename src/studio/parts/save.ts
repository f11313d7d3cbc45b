/** Lets the browser save what the page has got with its key, which must not be in an address. */
export function saveAs(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has its own hold on the content once the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

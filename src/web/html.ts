const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character)
}

/** The question for what `credential` names: `API key`, `token`, `API key or token`. */
export function question(credential: string): string {
  return `This server asks for ${credential.startsWith('API') ? 'an' : 'a'} ${credential}.`
}

/** What the head of every page begins with. */
export function pageHead(title: string): string {
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">`
}

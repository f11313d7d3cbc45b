import { escapeHtml, pageHead } from './html.ts'

/** What the page must know before it asks the server. */
export interface StudioPlaces {
  /** Where the studio is. */
  path: string
  prefix: string
  version: string
  /** What callers are asked for, if anything. */
  credential: string
}

/**
 * Nothing but what this server sends may run or be loaded, and no text can become markup or script: `trusted-types 'none'` forbids it to
 * the page itself. Pictures of messages are blobs.
 */
export const studioPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Names in the folder of the built studio. */
export interface StudioFiles {
  script: string
  /** What the script imports: asked for at once, not only when the script has come. */
  imports: readonly string[]
  style: string
}

/** The page with its script and style. */
export function studioPage(places: StudioPlaces, { script, imports, style }: StudioFiles): string {
  const { path, prefix, version, credential } = places
  const known = { path, prefix, version, credential }
  const data = Object.entries(known).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`)
  const preloads = imports.map((name) => `<link rel="modulepreload" href="${escapeHtml(`${path}/assets/${name}`)}">\n`)
  return `<!doctype html>
<html lang="en"${data.join('')}>
<head>
${pageHead('agentserve studio')}
<link rel="stylesheet" href="${escapeHtml(`${path}/assets/${style}`)}">
<script type="module" src="${escapeHtml(`${path}/assets/${script}`)}"></script>
${preloads.join('')}</head>
<body>
<div id="studio"></div>
<noscript>The studio needs JavaScript. The same is in the terminal: agentserve sessions, agentserve runs.</noscript>
</body>
</html>
`
}

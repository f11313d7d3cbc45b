import { escapeHtml, pageHead } from './html.ts'

const names: Record<string, string> = {
  studio: 'Studio: sessions and runs',
  docs: 'Interactive documentation',
  openapi: 'OpenAPI document',
  health: 'Health',
  agents: 'Agents',
  sessions: 'Sessions',
  a2a: 'Agent-to-agent messages (POST)',
}

/** The page at `/`: every place with its name and path. */
export function homePage(places: Readonly<Record<string, string>>, version: string): string {
  const items = Object.entries(places).map(
    ([name, path]) => `<dt>${escapeHtml(names[name] ?? name)}</dt><dd>${placeOf(name, path)}</dd>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
${pageHead('agentserve')}
<link rel="stylesheet" href="/docs/assets/page.css">
</head>
<body>
<main class="places">
<h1>agentserve ${escapeHtml(version)}</h1>
<dl>
${items.join('\n')}
</dl>
</main>
</body>
</html>
`
}

function placeOf(name: string, path: string): string {
  return name === 'a2a' ? `<code>${escapeHtml(path)}</code>` : `<a href="${escapeHtml(path)}">${escapeHtml(path)}</a>`
}

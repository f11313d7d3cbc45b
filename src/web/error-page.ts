import { escapeHtml, pageHead } from './html.ts'

export interface Problem {
  status: number
  code: string
  message: string
  details: readonly { path: string; message: string }[]
  requestId: string
  retryAfterSeconds: number | undefined
}

const titles: Readonly<Record<number, string>> = {
  400: 'This request is not valid',
  401: 'A key is needed here',
  403: 'This is not allowed',
  404: 'There is nothing here',
  405: 'This address is not for browsers',
  408: 'The request took too long',
  421: 'This server does not answer to that name',
  429: 'Too many requests',
  503: 'The server has no room now',
  504: 'The answer took too long',
}

/** What went wrong with a navigation, and the ways out. All of it is text; `style` is the only thing that is not written here. */
export function errorPage(problem: Problem, ways: Readonly<Record<string, string>>, style: string): string {
  const { status, code, message, details, requestId, retryAfterSeconds } = problem
  const title = titles[status] ?? (status < 500 ? 'This did not work' : 'The server could not answer')
  const more = [
    ...(status === 401 ? ['The pages below ask for the key.'] : []),
    ...(retryAfterSeconds === undefined ? [] : [`Wait ${Math.ceil(retryAfterSeconds)} s, then reload this page.`]),
  ]
  const facts = [
    ['Status', String(status)],
    ['Code', code],
    ['Request', requestId],
  ].map(([name = '', value = '']) => `<dt>${name}</dt><dd><code>${escapeHtml(value)}</code></dd>`)
  const links = Object.entries(ways).map(
    ([name, path]) => `<li><a href="${escapeHtml(path)}">${escapeHtml(name)}</a></li>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
${pageHead(`${status}: ${title}`)}
<style>${style}</style>
</head>
<body>
<main class="places">
<h1>${title}</h1>
<p>${escapeHtml(message)}</p>
${list(details.map(({ path, message }) => `<code>${escapeHtml(path)}</code>: ${escapeHtml(message)}`))}${more.map((text) => `<p>${text}</p>\n`).join('')}<nav aria-label="Ways out"><ul>${links.join('')}</ul></nav>
<dl class="facts">${facts.join('')}</dl>
</main>
</body>
</html>
`
}

function list(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>\n`
}

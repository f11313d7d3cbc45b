import { escapeHtml, pageHead, question } from './html.ts'

/** The files of swagger-ui-dist that the page needs. */
export const swaggerFiles: readonly string[] = ['swagger-ui-bundle.js', 'swagger-ui.css']

/** `studioPath`: undefined where the studio is not served. `credential`: what callers are asked for. */
export function docsPage(studioPath: string | undefined, credential: string): string {
  const studio = studioPath === undefined ? '' : escapeHtml(studioPath)
  return `<!doctype html>
<html lang="en" data-studio="${studio}">
<head>
${pageHead('agentserve: API')}
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="stylesheet" href="/docs/assets/page.css">
</head>
<body>
<header class="top">
<h1>The API of this server</h1>
<nav aria-label="Pages">${studio === '' ? '' : `<a href="${studio}">Studio</a> `}<a href="/openapi.yaml">OpenAPI document</a></nav>
</header>
<main>
<form id="key" hidden>
<label for="key-value">${question(credential)}</label>
<input id="key-value" type="password" autocomplete="current-password" required>
<button type="submit">Show the documentation</button>
<p id="key-refused" role="alert" hidden>The server does not take this ${credential.replace('API ', '')}.</p>
</form>
<section id="try" aria-labelledby="try-title" hidden>
<h2 id="try-title">Run an agent</h2>
<form id="run">
<label for="run-agent">Agent</label>
<select id="run-agent"></select>
<label for="run-input">Message</label>
<textarea id="run-input" rows="2" required>What can you do?</textarea>
<button type="submit">Run</button>
</form>
<p id="run-state" role="status"></p>
<div id="run-answer" dir="auto" hidden></div>
<p id="run-more" hidden><a>See each step of this run in the studio</a></p>
<details><summary>The same in a terminal</summary><pre id="run-curl" tabindex="0"></pre></details>
</section>
<div id="docs"></div>
<noscript>The documentation needs JavaScript; the document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</noscript>
</main>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/docs.js"></script>
</body>
</html>
`
}

/** Runs in the browser. The key stays in the page's memory and goes to this origin only. All that comes from the server is shown as text. */
export const docsScript = `'use strict'
const at = (id) => document.getElementById(id)
const studio = document.documentElement.dataset.studio
let key

// Swagger UI has dark styles, but waits for a class.
const dark = matchMedia('(prefers-color-scheme: dark)')
const shade = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', shade)
shade()

const headers = (more) => (key === undefined ? { ...more } : { ...more, Authorization: 'Bearer ' + key })

const withKey = (request) => {
  const own = new URL(request.url, location.href).origin === location.origin
  if (own && key !== undefined) request.headers.Authorization = 'Bearer ' + key
  return request
}

async function show() {
  const answer = await fetch('/openapi.json', { headers: headers() })
  if (answer.status === 401) {
    at('key-refused').hidden = key === undefined
    key = undefined
    at('key').hidden = false
    at('key-value').focus()
    return
  }
  at('key').hidden = true
  if (!answer.ok) throw new Error('/openapi.json answered ' + answer.status)
  // Without its servers, of which this one is the only one, Swagger UI asks its own, and offers no list of one.
  const { servers, ...spec } = await answer.json()
  await offer(spec)
  SwaggerUIBundle({
    spec,
    domNode: at('docs'),
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    deepLinking: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    requestInterceptor: withKey,
  })
}

let pathOfRun

// A key that may not read the agents can't choose one.
async function offer(spec) {
  const path = (id) => Object.keys(spec.paths).find((path) => Object.values(spec.paths[path]).some(({ operationId }) => operationId === id))
  const answer = await fetch(path('listAgents'), { headers: headers() })
  if (!answer.ok) return
  // A workflow takes more than a message.
  const agents = (await answer.json()).agents.filter(({ kind }) => kind !== 'workflow')
  if (agents.length === 0) return
  pathOfRun = (id) => path('runAgent').replace('{id}', encodeURIComponent(id))
  at('run-agent').replaceChildren(...agents.map(({ id }) => new Option(id)))
  at('try').hidden = false
  tell()
}

const request = () => ({ path: pathOfRun(at('run-agent').value), body: JSON.stringify({ input: at('run-input').value }) })

const quoted = (text) => "'" + text.replaceAll("'", "'\\\\''") + "'"

function tell() {
  const { path, body } = request()
  const lines = ['curl ' + quoted(location.origin + path), "  -H 'Content-Type: application/json'"]
  if (key !== undefined) lines.push('  -H "Authorization: Bearer $AGENTSERVE_KEY"')
  at('run-curl').textContent = [...lines, '  -d ' + quoted(body)].join(' \\\\\\n')
}

async function run() {
  const { path, body } = request()
  at('run-answer').hidden = at('run-more').hidden = true
  at('run-state').textContent = 'Running …'
  const answer = await fetch(path, { method: 'POST', headers: headers({ 'Content-Type': 'application/json' }), body })
  const { error, ...run } = await answer.json()
  const { run_id = error?.run_id, session_id = error?.session_id, status, content } = run
  at('run-state').textContent = error ? error.code + ': ' + error.message : status
  at('run-answer').textContent = content ?? ''
  at('run-answer').hidden = !content
  at('run-more').hidden = studio === '' || !run_id
  at('run-more').firstChild.href = studio + '/s/' + encodeURIComponent(session_id) + '/r/' + encodeURIComponent(run_id)
}

const start = () =>
  show().catch((error) => {
    at('docs').textContent = 'The documentation could not be loaded: ' + error.message
  })

at('key').addEventListener('submit', (event) => {
  event.preventDefault()
  key = at('key-value').value
  start()
})
at('run').addEventListener('input', tell)
at('run').addEventListener('submit', (event) => {
  event.preventDefault()
  const button = at('run').querySelector('button')
  button.disabled = true
  run()
    .catch((error) => {
      at('run-state').textContent = 'There is no answer: ' + error.message
    })
    .finally(() => {
      button.disabled = false
    })
})
start()
`

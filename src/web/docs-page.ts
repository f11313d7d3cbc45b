/** The files of swagger-ui-dist that the page needs. */
export const swaggerFiles: readonly string[] = ['swagger-ui-bundle.js', 'swagger-ui.css']

export const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>agentserve: API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="stylesheet" href="/docs/assets/page.css">
</head>
<body>
<form id="key" hidden>
<label for="key-value">This server asks for an API key.</label>
<input id="key-value" type="password" autocomplete="off" required>
<button type="submit">Show the documentation</button>
<p id="key-refused" role="alert" hidden>The server does not know this key.</p>
</form>
<div id="docs"></div>
<noscript>The documentation needs JavaScript; the document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</noscript>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/docs.js"></script>
</body>
</html>
`

/** Runs in the browser. The key stays in the page's memory and goes to this origin only. */
export const docsScript = `'use strict'
const form = document.getElementById('key')
const field = document.getElementById('key-value')
let key

const withKey = (request) => {
  const own = new URL(request.url, location.href).origin === location.origin
  if (own && key !== undefined) request.headers['X-API-Key'] = key
  return request
}

async function show() {
  const answer = await fetch('/openapi.json', { headers: key === undefined ? {} : { 'X-API-Key': key } })
  if (answer.status === 401) {
    document.getElementById('key-refused').hidden = key === undefined
    key = undefined
    form.hidden = false
    field.focus()
    return
  }
  form.hidden = true
  if (!answer.ok) throw new Error('/openapi.json answered ' + answer.status)
  SwaggerUIBundle({
    spec: await answer.json(),
    domNode: document.getElementById('docs'),
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    deepLinking: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    requestInterceptor: withKey,
  })
}

const start = () =>
  show().catch((error) => {
    document.getElementById('docs').textContent = 'The documentation could not be loaded: ' + error.message
  })

form.addEventListener('submit', (event) => {
  event.preventDefault()
  key = field.value
  start()
})
start()
`

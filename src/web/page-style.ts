/** Of our pages besides the studio, light and dark. The dark page is as dark as Swagger UI's. */
export const pageStyle = `:root {
  color-scheme: light dark;
  --text: #222; --quiet: #595959; --page: #fff; --edge: #767676; --link: #0b57d0; --wrong: #b3261e; --on-button: #fff
}
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e6e6; --quiet: #aeb4bf; --page: #1c2022; --edge: #8b929e; --link: #8ab4f8; --wrong: #f2a19b; --on-button: #101216 }
}
body { margin: 0; font-family: system-ui, sans-serif; color: var(--text); background: var(--page) }
.places, .top, #key, #try { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; line-height: 1.6; overflow-wrap: anywhere }
.places a, .top a, #try a { color: var(--link) }
.places dt { font-weight: 600; margin-top: .75rem }
.places dd { margin: 0 }
.places nav ul { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; padding: 0; list-style: none }
.places nav a, .top a { display: inline-block; padding: .25rem 0 }
.places .facts { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--quiet); font-size: .875rem }
.places .facts dt { margin: 0 }
.top, #key, #try { max-width: 90rem; padding: 0 1.25rem }
.top { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: baseline; justify-content: space-between; margin: 1rem auto }
.top h1, #try h2 { font-size: 1.5rem; margin: .5rem 0 }
.top a { margin-right: 1.5rem }
#try { margin: 1rem auto 0 }
#key label, #run label { display: block; font-weight: 600 }
#key input, #run select, #run textarea { box-sizing: border-box; display: block; width: 100%; max-width: 40rem; margin-bottom: .75rem; padding: .5rem; border: 1px solid var(--edge); border-radius: 4px; font: inherit; color: inherit; background: var(--page) }
#key button, #run button { padding: .5rem 1.25rem; border: 0; border-radius: 4px; font: inherit; color: var(--on-button); background: var(--link) }
#run button:disabled { opacity: .6 }
#key-refused { color: var(--wrong) }
#run-answer { max-width: 40rem; white-space: pre-wrap; border-left: 3px solid var(--link); padding-left: 1rem }
#try summary { padding: .25rem 0 }
#try pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--edge); border-radius: 4px }
/* What can be told apart and hit in Swagger UI: its own colours have too little contrast, its paths are too low. */
.swagger-ui .opblock .opblock-summary-method { color: #000; text-shadow: none }
.swagger-ui .opblock-summary-path a { display: inline-block; min-width: 24px; line-height: 24px }
.swagger-ui .info .title small { background: #4a4f55 }
.swagger-ui .info .title small.version-stamp { background: #2f6b1a }
.swagger-ui .info .title small pre { color: #fff }
.swagger-ui .info a, .swagger-ui .info .link { color: var(--link) }
.swagger-ui .btn.authorize { border-color: currentColor; color: var(--text) }
.swagger-ui .info a, .swagger-ui .link:any-link, .swagger-ui .btn { transition: none }
`

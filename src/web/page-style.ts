/** Of our pages besides the studio, light and dark. */
export const pageStyle = `:root {
  color-scheme: light dark;
  --text: #222; --quiet: #595959; --page: #fff; --line: #8a8a8a; --link: #0b57d0; --wrong: #b3261e; --button: #0b57d0; --on-button: #fff
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e4e6ea; --quiet: #a9afba; --page: #16181d; --line: #7d8491; --link: #8ab4f8; --wrong: #f2a19b; --button: #8ab4f8; --on-button: #101216
  }
}
body { margin: 0; font-family: system-ui, sans-serif; color: var(--text); background: var(--page) }
.places { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; line-height: 1.6; overflow-wrap: anywhere }
.places a { color: var(--link) }
.places dt { font-weight: 600; margin-top: .75rem }
.places dd { margin: 0 }
.places nav ul { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; padding: 0; list-style: none }
.places nav a { display: inline-block; padding: .25rem 0 }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--quiet); font-size: .875rem }
.places .facts dt { margin: 0 }
`

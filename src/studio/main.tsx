import { render } from 'preact'
import { watchTextScale } from './parts/layout/narrow.ts'
import { ignoreSecondClicks } from './state/keys/second-clicks.ts'
import type { Places } from './state/server/server.ts'
import { Studio } from './state/studio.ts'
import { Shell } from './views/shell.tsx'

ignoreSecondClicks()
watchTextScale()
const places = document.documentElement.dataset as DOMStringMap & Places
const place = document.getElementById('studio')
if (place !== null) render(<Shell studio={new Studio(places)} />, place)

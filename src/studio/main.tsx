import { render } from 'preact'
import { watchTextScale } from './parts/layout/narrow.ts'
import { ignoreSecondClicks } from './state/second-clicks.ts'
import { readPlaces } from './state/server.ts'
import { Studio } from './state/studio.ts'
import { Shell } from './views/shell.tsx'

ignoreSecondClicks()
watchTextScale()
const place = document.getElementById('studio')
if (place !== null) render(<Shell studio={new Studio(readPlaces(document.documentElement))} />, place)

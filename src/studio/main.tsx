import { render } from 'preact'
import { readPlaces } from './state/server.ts'
import { Studio } from './state/studio.ts'
import { Shell } from './views/shell.tsx'

const place = document.getElementById('studio')
if (place !== null) render(<Shell studio={new Studio(readPlaces(document.documentElement))} />, place)

import { createRequire } from 'node:module'

/** Arrow as LanceDB loads it: by `require`, since an import would load a second copy. The build puts both into the bundle. */
export const arrow: typeof import('apache-arrow') = createRequire(import.meta.url)('apache-arrow')

import manifest from '../../package.json' with { type: 'json' }

export const version: string = manifest.version
/** The version of `@huggingface/transformers` that this one runs with; nobody gets the package without asking for it. */
export const transformersVersion: string = manifest.peerDependencies['@huggingface/transformers']

import { z } from 'zod'

export const archiveMediaType = 'application/x-tar'

/** An archive as bytes. */
export const Archive = z.string().meta({ format: 'binary' })

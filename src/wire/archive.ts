import { z } from 'zod'

export const archiveMediaType = 'application/x-tar'

export const Archive = z.string().meta({ format: 'binary' })

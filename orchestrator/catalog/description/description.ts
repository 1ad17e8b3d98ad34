/** The description of a service as both doors write it. */
import * as s from '#http/schema.ts'
import { serviceSchema } from '../service.ts'
import type { Description } from './describe.ts'
import { healthSchema } from './health.ts'
import { qualitySchema } from './quality.ts'

export const looksLikeSchema = s.optional(
  s.text({ description: 'An older service whose name looks the same: make sure which one is meant.' }),
)

export const descriptionSchema = s.named('ServiceDescription', {
  scope: s.oneOf(['endpoint', 'service'] as const),
  service: serviceSchema,
  looksLike: looksLikeSchema,
  health: healthSchema,
  quality: qualitySchema,
})

export const presentDescription = ({
  scope,
  service,
  looksLike,
  health,
  quality,
}: Description): s.Static<typeof descriptionSchema> => ({
  ...{ scope, service },
  ...(looksLike !== null && { looksLike }),
  health: [...health],
  quality: [...quality],
})

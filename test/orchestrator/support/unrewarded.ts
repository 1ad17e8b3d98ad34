/** Reviews where no rewards are given. */
import { Reviews } from '#orchestrator/review/Reviews.ts'
import type { AppDatabase } from '#rows/database.ts'
import { systemRuntime } from '#runtime/runtime.ts'
import { silentLogger } from '#telemetry.ts'

const { clock } = systemRuntime()

export const unrewarded = (app: AppDatabase) =>
  new Reviews({ app, terms: null, transferFee: async () => 0n, clock, log: silentLogger })

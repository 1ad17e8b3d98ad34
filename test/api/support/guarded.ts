import type { QuotaStore } from '#api/access/Quotas.ts'
import { type AccessSettings, fileDefaults } from '#api/access/settings.ts'

/** A service that is open to who has a key, with the built-in numbers. */
export const guarded: AccessSettings = {
  ...fileDefaults,
  mode: 'guarded',
  isOpenToAll: false,
  reason: 'test',
  publicUrl: new URL('https://data.example.com'),
  corsOrigins: null,
}

/** Grants whatever is wished for. */
export const endlessQuotas: QuotaStore = {
  reserve: async (wishes) =>
    wishes.map(({ subject, units }) => ({
      subject,
      granted: units,
      used: 1,
      startedAt: new Date(0),
      leftMs: 60_000,
    })),
  giveBack: async () => {},
  removePast: async () => false,
}

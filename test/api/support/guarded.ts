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

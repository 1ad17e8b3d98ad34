import { defineConfig } from 'vitest/config'
import base from '../vitest.config.ts'

/**
 * Suites too heavy for every `npm test`, but not endurance: `npm run test:all` runs them behind the
 * others.
 */
export default defineConfig({
  test: {
    ...base.test,
    include: ['**/*.full.test.ts'],
    exclude: ['node_modules/**', 'test/extra/**', '.millrace/**'],
    provide: { breadth: 'full' },
  },
})

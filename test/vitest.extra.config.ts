import { defineConfig } from 'vitest/config'
import base from '../vitest.config.ts'

/** Suites on data of others, which is not in the project (`test/extra/sharedFolder.ts`). */
export default defineConfig({
  test: {
    ...base.test,
    include: ['test/extra/**/*.test.ts'],
    exclude: ['node_modules/**', '.millrace/**'],
    provide: { breadth: 'full' },
  },
})

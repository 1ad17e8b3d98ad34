import { defineConfig } from 'vitest/config'
import { notTests, shared } from './vitest.shared.ts'

/** Suites on data of others, which is not in the project (`test/extra/sharedFolder.ts`). */
export default defineConfig({
  test: {
    ...shared,
    include: ['test/extra/**/*.test.ts'],
    exclude: [...notTests],
    provide: { breadth: 'full' },
  },
})

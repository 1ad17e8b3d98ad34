import { defineConfig } from 'vitest/config'
import { notTests, shared } from './test/vitest.shared.ts'

/** What proves the program: every path, with some of the values. */
export default defineConfig({
  test: {
    ...shared,
    include: ['**/*.test.ts'],
    exclude: [...notTests, '**/*.{full,long}.test.ts', 'test/extra/**'],
    provide: { breadth: 'few' },
  },
})

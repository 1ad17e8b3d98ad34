import { defineConfig } from 'vitest/config'
import { notTests, shared } from './test/vitest.shared.ts'

const breadth = { provide: { breadth: 'few' as const } }
const ofOtherRuns = ['**/*.{full,long}.test.ts', 'test/extra/**']

/**
 * Tests beside their files are pure and share a process and what it has loaded; suites have one
 * each.
 */
export default defineConfig({
  test: {
    maxWorkers: shared.maxWorkers,
    projects: [
      {
        test: {
          ...shared,
          ...breadth,
          name: 'beside',
          globalSetup: [],
          isolate: false,
          include: ['**/*.test.ts'],
          exclude: [...notTests, ...ofOtherRuns, 'test/**'],
        },
      },
      {
        test: {
          ...shared,
          ...breadth,
          name: 'suites',
          include: ['test/**/*.test.ts'],
          exclude: [...notTests, ...ofOtherRuns],
        },
      },
    ],
  },
})

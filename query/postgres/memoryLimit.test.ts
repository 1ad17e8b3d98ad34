import { expect, test } from 'vitest'
import { memoryLimitIn, memoryNote, readMemoryLimit } from './memoryLimit.ts'

const limitsWith = (
  data: string,
  space: string,
) => `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max data size             ${data.padEnd(21)}unlimited            bytes     
Max stack size            8388608              unlimited            bytes     
Max address space         ${space.padEnd(21)}unlimited            bytes     
`

test('the smaller of what a process may take counts, as Linux writes it', () => {
  expect(memoryLimitIn(limitsWith('1073741824', 'unlimited'))).toBe(1024 ** 3)
  expect(memoryLimitIn(limitsWith('unlimited', '4294967296'))).toBe(4 * 1024 ** 3)
  expect(memoryLimitIn(limitsWith('unlimited', 'unlimited'))).toBe(Infinity)
  expect(memoryLimitIn('')).toBeNull()
})

test('a server without a limit, with a large one, or that does not tell, is named to its operator', async () => {
  expect(memoryNote(1024 ** 3)).toBeNull()
  expect(memoryNote(Infinity)).toContain('no limit of memory, and 6 queries')
  expect(memoryNote(8 * 1024 ** 3)).toContain('8 GiB')
  const refusing = { query: () => Promise.reject(new Error('permission denied for function pg_read_file')) }
  expect(memoryNote(await readMemoryLimit(refusing))).toContain('does not tell')
})

import { expect } from 'vitest'
import type { EncodedBatch } from '#transform/batch.ts'
import { tableNames } from '#transform/tables.ts'

/**
 * Equal to the byte. Buffers are compared whole: the matcher's own walk over megabytes takes
 * seconds.
 */
export function expectSameBatch(actual: EncodedBatch, expected: EncodedBatch): void {
  const { tables, ...facts } = actual
  const { tables: expectedTables, ...expectedFacts } = expected
  expect(facts).toEqual(expectedFacts)
  for (const name of tableNames) {
    const [one, other] = [tables[name], expectedTables[name]]
    expect(one.rowCount, name).toBe(other.rowCount)
    expect(one.blockRowCounts, name).toEqual(other.blockRowCounts)
    expect(one.blockDigests, name).toEqual(other.blockDigests)
    expect(isSame(one.postgres, other.postgres), name).toBe(true)
    expect(one.clickhouse, name).toHaveLength(other.clickhouse.length)
    one.clickhouse.forEach((stream, i) => {
      expect(isSame(stream, other.clickhouse[i]), `${name} stream ${i}`).toBe(true)
    })
  }
}

const isSame = (one: Uint8Array, other: Uint8Array | undefined): boolean =>
  other !== undefined && Buffer.compare(one, other) === 0

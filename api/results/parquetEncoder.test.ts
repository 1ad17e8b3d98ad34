import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import type { ResultType, RowBatch } from '#query/result.ts'
import { parquetEncoder } from './parquetEncoder.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const end = { rowCount: 0, truncated: true, elapsedMs: 1, rowsRead: 1, bytesRead: 1, digest: 'sha256:00' }

const open = (columns: readonly string[], columnTypes: readonly ResultType[]) =>
  parquetEncoder({ engine: 'postgres', columns, columnTypes, relations: [], horizon: { from: 0, to: 9 } })

const batchOf = (rows: readonly (readonly unknown[])[]): RowBatch => ({
  count: rows.length,
  json: Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
})

const fileOf = (pieces: readonly Uint8Array[]): ArrayBuffer => new Uint8Array(Buffer.concat(pieces)).buffer

test('rows of many batches share a row group, in their order, and the footer says what was left out', async () => {
  const encoder = open(['n', 'hash'], ['int', 'bytes'])
  const pieces = [encoder.head()]
  const hashOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
  for (let from = 0; from < 50_000; from += 100)
    pieces.push(encoder.rows(batchOf(Array.from({ length: 100 }, (_, at) => [from + at, hashOf(from + at)]))))
  pieces.push(encoder.end(end))
  const file = fileOf(pieces)
  const { row_groups: groups, key_value_metadata: facts } = parquetMetadata(file)
  expect(groups.length).toBeGreaterThan(1)
  expect(groups.length).toBeLessThan(10)
  expect(facts).toContainEqual({ key: 'truncated', value: 'true' })
  const rows = await parquetReadObjects({ file, utf8: false })
  expect(rows.map(({ n }) => Number(n))).toEqual(Array.from({ length: 50_000 }, (_, n) => n))
  expect(Buffer.from(rows[49_999]?.['hash']).readUInt32BE(28)).toBe(49_999)
})

test('values that were written are not held until the footer', () => {
  const encoder = open(['words'], ['text'])
  const heldAfter = (batches: number) => {
    for (let at = 0; at < batches; at++) encoder.rows(batchOf([[`${at}${'words '.repeat(60_000)}`]]))
    collect()
    return process.memoryUsage().heapUsed
  }
  // Least and greatest value of each of the groups would be 30 MB.
  expect(heldAfter(200) - heldAfter(10)).toBeLessThan(8_000_000)
  encoder.end(end)
})

// Goal: streams of the encoder grow to any size, and leave nothing behind for the next batch.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Arena, TableEncoder } from '#transform/encode/TableEncoder.ts'
import { EncodeError } from '#transform/encode/values.ts'
import { type Row, type TableName, tableNames, tables } from '#transform/tables.ts'
import { arbitraryRow } from './randomRows.ts'
import { type AnyRow, encodeSlowly } from './slowEncoder.ts'

function encode<Name extends TableName>(encoder: TableEncoder<Name>, blocks: readonly (readonly AnyRow[])[]) {
  encoder.clear()
  for (const rows of blocks) {
    for (const row of rows) encoder.append(row as Row<Name>)
    encoder.endBlock()
  }
  return encoder.copyTo(new Arena(encoder.postgresBytes), new Arena(encoder.clickhouseBytes))
}

describe('table encoder', () => {
  test.each(tableNames)('%s: rows become the bytes that the formats define, run after run', (name) => {
    const encoder = new TableEncoder(name)
    const blocks = fc.array(fc.array(arbitraryRow(tables[name]), { maxLength: 12 }), { maxLength: 5 })
    fc.assert(
      fc.property(blocks, (given) => {
        const encoded = encode(encoder, given)
        const expected = encodeSlowly(tables[name], given.flat())
        expect(Buffer.from(encoded.postgres).equals(expected.postgres)).toBe(true)
        expect(encoded.clickhouse.map((bytes) => Buffer.from(bytes).toString('hex'))).toEqual(
          expected.clickhouse.map((bytes) => bytes.toString('hex')),
        )
        expect(encoded.rowCount).toBe(given.flat().length)
        expect([...encoded.blockRowCounts]).toEqual(given.map((rows) => rows.length))
        expect([...encoded.blockDigests]).toEqual(
          given.map((rows) => encodeSlowly(tables[name], rows).digest),
        )
      }),
      { numRuns: 40 },
    )
  })

  test('streams grow far beyond their first size, and a small batch after a huge one is right', () => {
    const encoder = new TableEncoder('logs')
    const rows = fc.sample(arbitraryRow(tables.logs), { numRuns: 300, seed: 7 })
    const many = Array.from({ length: 40 }, () => rows)
    const one = encode(encoder, [rows])
    const big = encode(encoder, many)
    expect(big.rowCount).toBe(12_000)
    expect(big.postgres.byteLength).toBe(one.postgres.byteLength * 40)
    const again = encode(encoder, [rows])
    expect(Buffer.from(again.postgres).equals(Buffer.from(one.postgres))).toBe(true)
    expect(again.clickhouse).toEqual(one.clickhouse)
  })

  const approval: Row<'token_approvals'> = {
    block_num: 1,
    log_idx: 0,
    block_timestamp: 1,
    tx_idx: 0,
    tx_hash: `0x${'00'.repeat(32)}`,
    token: `0x${'00'.repeat(20)}`,
    owner: `0x${'00'.repeat(20)}`,
    spender: `0x${'00'.repeat(20)}`,
    amount: 0n,
  }

  test.each([
    ['block_num', 2n ** 63n],
    ['block_num', 0.5],
    ['block_num', -1],
    ['log_idx', 2 ** 31],
    ['block_timestamp', 2 ** 32],
    ['tx_hash', `0x${'00'.repeat(31)}`],
    ['tx_hash', `0x${'0g'.repeat(32)}`],
    ['token', null],
    ['owner', undefined],
    ['amount', 2n ** 256n],
    ['amount', -1n],
  ])('%s refuses %s instead of storing something else', (column, value) => {
    const encoder = new TableEncoder('token_approvals')
    const row = { ...approval, [column]: value } as unknown as Row<'token_approvals'>
    expect(() => encoder.append(row)).toThrow(EncodeError)
    expect(() => encoder.append(row)).toThrow(expect.objectContaining({ table: 'token_approvals', column }))
  })
})

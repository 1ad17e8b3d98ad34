/**
 * Goal: what rows say is what the node's JSON says. Method: rows are caught before they are
 * encoded.
 */
import { describe, expect, test } from 'vitest'
import { parseBlock, parseReceipts, type RpcBlock, type RpcReceipt } from '#ingest/read/block.ts'
import { decodeBlock } from '#transform/decode/decodeBlock.ts'
import type { ChainProfile } from '#transform/profile.ts'
import type { RowSinks } from '#transform/projection.ts'
import { type Row, type StoredRow, type TableName, tableNames } from '#transform/tables.ts'
import { type RecordedBlock, readRecording } from '../chain/recordings.ts'
import { resolveRow, scanned } from '../support/scanned.ts'
import { devProfile, readFixtures } from './ranges.ts'

interface Decoded {
  readonly block: RpcBlock
  readonly receipts: readonly RpcReceipt[]
  rowsOf<Name extends TableName>(name: Name): readonly Row<Name>[]
}

function decode(profile: ChainProfile, recorded: RecordedBlock): Decoded {
  const block = parseBlock(recorded.block)
  const receipts = parseReceipts(recorded.receipts, block)
  const { bytes, list } = scanned(receipts)
  const rows = new Map<TableName, unknown[]>(tableNames.map((name) => [name, []]))
  const sinks = Object.fromEntries(
    tableNames.map((name) => [
      name,
      { append: (row: StoredRow<typeof name>) => rows.get(name)?.push(resolveRow(name, row, bytes)) },
    ]),
  )
  decodeBlock({ profile, projections: [] }, block, list, sinks as unknown as RowSinks)
  return { block, receipts, rowsOf: (name) => rows.get(name) as never }
}

const ceilDivide = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

describe('rows of recorded blocks', () => {
  const decoded = readRecording('tempo-dev-2k').map((recorded) => decode(devProfile, recorded))

  test('the fee is the closing log, and the formula agrees on every transaction', () => {
    const txs = decoded.flatMap(({ rowsOf }) => rowsOf('txs'))
    expect(txs).toHaveLength(2000)
    for (const tx of txs) {
      expect(tx.fee_amount).toBe(ceilDivide(BigInt(tx.gas_used) * (tx.effective_gas_price ?? 0n), 10n ** 12n))
      expect(tx.paid_fee_token).toMatch(/^0x20c0/)
    }
    expect(txs.filter((tx) => tx.fee_payer !== tx.from).length).toBeGreaterThan(100)
  })

  test('log rows are the logs of the receipts, in block order', () => {
    for (const { receipts, rowsOf } of decoded) {
      const rows = rowsOf('logs')
      expect(rows.map((row) => row.log_idx)).toEqual(rows.map((_, index) => index))
      const logs = receipts.flatMap((receipt) => receipt.logs)
      expect(rows.map((row) => [row.address, row.data, row.tx_hash, row.tx_idx])).toEqual(
        logs.map((log) => [log.address, log.data, log.transactionHash, Number(log.transactionIndex)]),
      )
      expect(rows.map((row) => [row.topic0, row.topic1, row.topic2, row.topic3].filter(Boolean))).toEqual(
        logs.map((log) => log.topics),
      )
    }
  })

  test('transaction rows carry every envelope kind, with the recipient each has', () => {
    const txs = decoded.flatMap(({ rowsOf }) => rowsOf('txs'))
    expect([...new Set(txs.map((tx) => tx.type))].sort()).toEqual([0, 1, 118, 2, 4])
    expect(new Set(txs.map((tx) => tx.signature_type))).toEqual(new Set([0, 1, 2]))
    for (const tx of txs) expect(tx.calls === null).toBe(tx.type !== 0x76)
  })
})

describe('rows of real Tempo blocks', () => {
  test.each(
    readFixtures()
      .filter(({ profile }) => profile.kind === 'tempo')
      .map((fixture) => [fixture.name, fixture] as const),
  )('%s: payer and fee token are those the node derives', (_, { profile, recorded }) => {
    const { receipts, rowsOf } = decode(profile, recorded)
    const derived = receipts.map((receipt) => [receipt.feePayer, receipt.feeToken ?? null])
    expect(rowsOf('txs').map((tx) => [tx.fee_payer, tx.paid_fee_token])).toEqual(derived)
  })

  test('a block since T4 names its proposer and has milliseconds', () => {
    const fixture = readFixtures().find(({ name }) => name === 'tempo-mainnet 20636966')
    if (!fixture) throw new Error('the fixture is absent')
    const { block, rowsOf } = decode(fixture.profile, fixture.recorded)
    const [row] = rowsOf('blocks')
    expect(row?.consensus_proposer).toBe(block.consensusContext?.proposer)
    expect(row?.timestamp_ms).toBe(Number(block.timestampMillis))
    expect(row?.timestamp_ms).not.toBe(Number(block.timestamp) * 1000)
  })
})

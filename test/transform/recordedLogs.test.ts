// Goal: what the registries make of recorded data agrees with viem, the raw logs and the node.
/**
 * The registries' results for recorded chain data, against viem, the raw logs, and what the node itself
 * answered.
 */
import { describe, expect, it } from 'vitest'
import { readCalls, readRecording } from '#test/chain/recordings.ts'
import { decodeWithViem } from '#test/support/arbitraryLog.ts'
import { readRealBlock } from '#test/support/realBlocks.ts'
import { project, recordedFacts } from '#test/support/transactionFacts.ts'
import { decodeLog } from '#transform/events/index.ts'
import type { TransactionFacts } from '#transform/projection.ts'
import { holderDeltas } from '#transform/projections/holderDeltas.ts'
import { tokenTransfers } from '#transform/projections/tokenTransfers.ts'
import type { Row } from '#transform/tables.ts'

const recording = 'tempo-dev-2k'
/** Genesis gave these four tokens out without a log. */
const genesisTokens = /^0x20c0{36}[0-3]$/
const transferTopic: string = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

describe('events of recorded transactions', () => {
  it('are read as viem reads them', () => {
    const logs = readTransactions().flatMap((tx) => tx.logs)
    const decoded = logs.map(decodeLog).filter((log) => log !== null)
    expect(decoded.length).toBeGreaterThan(6_000)
    for (const { log, event, args } of decoded) expect(args).toEqual(decodeWithViem(event.abi, log))
  })

  it.each([
    ['tempo-mainnet', '17708868', 7],
    ['tempo-moderato', '6000178', 68],
  ])('are read as viem reads them in %s block %s', (chain, block, logCount) => {
    const logs = recordedFacts(readRealBlock(chain, block)).flatMap((tx) => tx.logs)
    expect(logs).toHaveLength(logCount)
    for (const log of logs) {
      const decoded = decodeLog(log)
      if (decoded !== null) expect(decoded.args).toEqual(decodeWithViem(decoded.event.abi, log))
    }
    expect(logs.filter((log) => decodeLog(log)?.event.name === 'Transfer').length).toBeGreaterThan(0)
  })
})

describe('balances of a recorded chain', () => {
  it('are the same from holder deltas as from the raw logs', () => {
    const transactions = readTransactions()
    const balances = balancesOf(project(holderDeltas, transactions).holder_deltas ?? [])
    expect(balances.size).toBeGreaterThan(900)
    expect(balances).toEqual(balancesByHand(transactions))
  })

  it('add up to the supply the node tells for every token that genesis did not mint', () => {
    const supplies = suppliesOf(project(holderDeltas, readTransactions()).holder_deltas ?? [])
    const told = readSupplies().filter(([token]) => !genesisTokens.test(token))
    expect(told.length).toBeGreaterThan(10)
    for (const [token, supply] of told) expect([token, supplies.get(token) ?? 0n]).toEqual([token, supply])
  })
})

describe('transfers of a recorded chain', () => {
  it('take each memo once and leave none over', () => {
    const transactions = readTransactions()
    const rows = project(tokenTransfers, transactions).token_transfers ?? []
    const memos = transactions
      .flatMap((tx) => tx.logs)
      .filter((log) => decodeLog(log)?.event.name === 'TransferWithMemo')
    expect(memos.length).toBeGreaterThan(100)
    expect(
      rows
        .map((row) => row.memo)
        .filter((memo) => memo !== null)
        .sort(),
    ).toEqual(memos.map((log) => log.topics[3]).sort())
  })

  it('mark one fee in every transaction that paid one', () => {
    const transactions = readTransactions()
    const fees = (project(tokenTransfers, transactions).token_transfers ?? []).filter((row) => row.is_fee)
    expect(fees).toHaveLength(transactions.filter((tx) => tx.feeLogIndex !== null).length)
  })
})

function readTransactions(): readonly TransactionFacts[] {
  return readRecording(recording).flatMap(recordedFacts)
}

function balancesOf(rows: readonly Row<'holder_deltas'>[]): ReadonlyMap<string, bigint> {
  const balances = new Map<string, bigint>()
  for (const { token, holder, leg, amount } of rows) add(balances, `${token} ${holder}`, BigInt(leg) * amount)
  return balances
}

function suppliesOf(rows: readonly Row<'holder_deltas'>[]): ReadonlyMap<string, bigint> {
  const supplies = new Map<string, bigint>()
  for (const { token, leg, amount } of rows) add(supplies, token, BigInt(leg) * amount)
  return supplies
}

/** Without events or projections: a Transfer has three topics, clean addresses and one word. */
function balancesByHand(transactions: readonly TransactionFacts[]): ReadonlyMap<string, bigint> {
  const balances = new Map<string, bigint>()
  for (const { address: token, topics, data } of transactions.flatMap((tx) => tx.logs)) {
    const sides = topics.slice(1).map((topic) => BigInt(topic))
    if (topics[0] !== transferTopic || sides.length !== 2 || data.length !== 66) continue
    if (sides.some((side) => side >= 2n ** 160n)) continue
    for (const [index, side] of sides.entries()) {
      const holder = `0x${side.toString(16).padStart(40, '0')}`
      if (side !== 0n) add(balances, `${token} ${holder}`, index === 0 ? -BigInt(data) : BigInt(data))
    }
  }
  return balances
}

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount)
}

/** The node's totalSupply() of each token at the recording's end. */
function readSupplies(): readonly (readonly [string, bigint])[] {
  return Object.entries(readCalls(recording))
    .filter(([call, answer]) => call.endsWith(':0x18160ddd') && /^0x[0-9a-f]{64}$/.test(String(answer)))
    .map(([call, answer]) => [call.slice(0, 42), BigInt(String(answer))])
}

/**
 * Transfers as the API must list them, decoded by viem from raw receipts: each Transfer a row, with
 * the memo that follows it.
 */
import { parseEventLogs } from 'viem'
import { Abis } from 'viem/tempo'
import { readRecording } from '../../chain/recordings.ts'
import { textOf } from '../activities/support/activityMovements.ts'
import { namedToken } from './chainApi.ts'
import type { RpcObject } from './oracle.ts'

const name = { name: 'pathUSD', symbol: 'pathUSD', currency: 'USD', decimals: 6, verified: true }

const iso = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

export interface TransferRow {
  readonly id: string
  readonly blockNumber: number
  readonly timestamp: string
  readonly sender: string
  readonly recipient: string
  readonly sourceToken: {
    readonly address: string
    readonly amount: string
    readonly decimals?: number | null
    readonly logoUri?: string
  }
  readonly [field: string]: unknown
}

/** Every row with its memo and its token's name, oldest first. */
export function recordedTransfers(recording: string): readonly TransferRow[] {
  return readRecording(recording).flatMap(({ block, receipts }) =>
    (receipts as RpcObject[]).flatMap((receipt) =>
      transferRows(receipt, Number((block as RpcObject)['timestamp'])).map((row) => ({
        ...row,
        sourceToken: { decimals: null, ...row.sourceToken },
      })),
    ),
  )
}

export function transferRows(receipt: RpcObject, timestampSeconds: number): readonly TransferRow[] {
  const logs = parseEventLogs({
    abi: Abis.tip20,
    eventName: ['Transfer', 'TransferWithMemo'],
    logs: receipt['logs'],
  }).filter(({ address }) => address.startsWith('0x20c000000000000000000000'))
  const rows: (TransferRow & { memoOf?: string })[] = []
  for (const { eventName, args, address, transactionHash, logIndex, blockNumber } of logs) {
    const [sender, recipient] = [args.from.toLowerCase(), args.to.toLowerCase()]
    const sourceToken = { address, amount: `${args.amount}` }
    if (eventName === 'TransferWithMemo') {
      const same = rows.findLastIndex(
        (row) =>
          row.memoOf === undefined &&
          row.sender === sender &&
          row.recipient === recipient &&
          row.sourceToken.address === address &&
          row.sourceToken.amount === sourceToken.amount,
      )
      rows[same] = { ...(rows[same] as TransferRow), memoOf: args.memo }
      continue
    }
    rows.push({
      id: `${transactionHash}-${Number(logIndex)}`,
      blockNumber: Number(blockNumber),
      logIndex: Number(logIndex),
      timestamp: iso(timestampSeconds),
      transactionHash,
      sender,
      recipient,
      sourceToken:
        address === namedToken
          ? { ...sourceToken, ...name, logoUri: 'https://example.com/logo.svg' }
          : sourceToken,
    })
  }
  return rows.map(({ memoOf, ...row }) => ({ ...row, ...(memoOf && textOf(memoOf)) }) as TransferRow)
}

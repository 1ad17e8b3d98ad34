/**
 * Texts on every table and column, for readers of a database: `store/maintain/comments.ts` writes
 * them into both engines. A column of `tables.ts` without a text does not compile. No quotes or
 * backslashes: they stand in SQL as they are.
 */

const place = {
  block_num: 'height of the block',
  block_timestamp: 'time of the block, to the second; several blocks share one',
}
const inTx = {
  tx_idx: 'position of the transaction in its block, from 0',
  tx_hash: 'hash of the transaction',
}
const ofLog = { ...place, ...inTx, log_idx: 'position of the log in its block, from 0' }

export interface TableDoc<Column extends string> {
  readonly row: string
  readonly columns: Readonly<Record<Column, string>>
}

export const columnDocs = {
  blocks: {
    row: 'one block header',
    columns: {
      num: 'height',
      hash: 'hash of the header',
      parent_hash: 'hash of the block before',
      timestamp: 'time of the block, to the second; several blocks share one',
      timestamp_ms: 'Unix milliseconds; whole seconds where the header has no finer time',
      gas_limit: 'most gas the block may use, as its gas_used counts it',
      gas_used:
        'as in the header: since EIP-7778 no sum of what transactions paid for, which may be more or less; on Tempo without the gas of state growth since T14 (draft)',
      miner: 'fee recipient',
      extra_data: 'as in the header',
      state_root: 'as in the header',
      transactions_root: 'as in the header',
      receipts_root: 'as in the header',
      size: 'bytes; null where the node does not say',
      tx_count: 'transactions in the block',
      log_count: 'logs in the block',
      consensus_proposer: 'as in the header; null on chains without it',
      base_fee_per_gas: 'attodollars per gas on Tempo, wei elsewhere; null before EIP-1559',
      block_access_list_hash: 'as in the header; null before EIP-7928',
      slot_number:
        'slot of the beacon chain; slots without a block are left out; null before EIP-7843 and where the node does not say',
    },
  },
  txs: {
    row: 'one transaction with its receipt',
    columns: {
      ...place,
      idx: 'position in the block, from 0',
      hash: 'hash of the transaction',
      type: 'EIP-2718 type; 118 is the 0x76 of Tempo',
      from: 'sender',
      to: 'recipient; of 0x76 the target of the first call; null for a creation',
      input: 'calldata; empty for 0x76, whose data is in calls',
      gas_limit: 'gas offered',
      nonce:
        'nonce in its lane; any 64 bits, in no order, in the last lane (ff..ff); null where it has no meaning',
      nonce_key: 'nonce lane, 32 bytes big-endian; null for ordinary nonces',
      fee_token: 'fee token the transaction asked for; null where it asked for none',
      calls: 'JSON [{to, value, input}] of a 0x76 transaction; null for other types',
      call_count: 'number of calls; 1 for other types',
      valid_before: 'Unix seconds: not included at or after; null without this bound',
      valid_after: 'Unix seconds: not included before; null without this bound',
      signature_type:
        '0 secp256k1, 1 P256, 2 WebAuthn, 6 zk (an identity with a proof; TIP-1131 of Tempo, draft); null for others, such as owners of a configurable account (Tempo, since T14, draft)',
      status: '1 succeeded, 0 reverted, null before Byzantium',
      gas_used: 'gas paid for',
      cumulative_gas_used:
        'gas paid for in the block up to and with this transaction; the last one is not gas_used of the block since EIP-7778, nor on Tempo since T14 (draft)',
      contract_address: 'contract created; null where none was',
      fee_payer: 'account that paid the fee; null where it is not told',
      paid_fee_token: 'token the fee was really paid in; null for the native coin',
      log_count: 'logs of the transaction',
      value: 'native amount',
      gas_price: 'price per gas as offered; null where the node tells none',
      max_fee_per_gas: 'most per gas as offered; null for types without it',
      max_priority_fee_per_gas: 'most per gas to the fee recipient as offered; null for types without it',
      effective_gas_price: 'price per gas as charged; null where the node tells none',
      fee_amount:
        'fee in the smallest unit of paid_fee_token, or without one of the native coin, so that sums are per token; null where it is unknown',
    },
  },
  logs: {
    row: 'one log as emitted',
    columns: {
      ...ofLog,
      address: 'contract that emitted it',
      topic0: 'first topic: hash of the signature of the event; null when absent',
      topic1: 'second topic; null when absent',
      topic2: 'third topic; null when absent',
      topic3: 'fourth topic; null when absent',
      data: 'what is not in topics',
      is_virtual_forward: 'second hop of a transfer to a virtual address',
    },
  },
  token_transfers: {
    row: 'one well-formed Transfer of any contract: three topics, 32 bytes of data, 12 zero bytes before each address',
    columns: {
      ...ofLog,
      token: 'token contract',
      from: 'account that sent',
      to: 'account that received',
      memo: 'memo of the TransferWithMemo that follows; null without one',
      is_fee: 'whether the transaction paid its fee by it',
      is_virtual_forward: 'second hop of a transfer to a virtual address',
      amount: 'in the smallest unit of the token',
    },
  },
  native_transfers: {
    row: 'one movement of the native coin: each that is logged (EIP-7708), internal ones too; before a chain logs them, the value of a transaction that succeeded',
    columns: {
      ...ofLog,
      log_idx:
        'position of its log in the block; without a log, of the first log that follows, or the number of logs where none does',
      from: 'account that sent',
      to: 'account that received; the contract, where one was created',
      is_logged: 'whether a log tells it, which the receipts root proves',
      is_value: 'whether it is the value of the transaction, and no internal movement',
      amount: 'in the smallest unit of the native coin',
    },
  },
  token_approvals: {
    row: 'one well-formed Approval of any contract',
    columns: {
      ...ofLog,
      token: 'token contract',
      owner: 'account whose tokens may be spent',
      spender: 'account that may spend them',
      amount: 'most that may be spent, in the smallest unit of the token',
    },
  },
  holder_deltas: {
    row: 'one side of a transfer, seen from the account whose balance changed',
    columns: {
      ...ofLog,
      leg: '+1 received, -1 sent',
      token: 'token contract',
      holder: 'account whose balance changed',
      counterparty: 'the other side of the transfer',
      amount: 'magnitude of the change in the smallest unit of the token; its sign is leg',
    },
  },
  address_txs: {
    row: 'the part of one account in a transaction',
    columns: {
      ...place,
      ...inTx,
      direction: '0 sender, 1 recipient',
      address: 'the account',
      counterparty: 'the other account; null for a creation',
    },
  },
  contract_creations: {
    row: 'one contract created by a transaction',
    columns: {
      ...place,
      ...inTx,
      creator: 'sender of the transaction',
      contract: 'contract created',
    },
  },
  raw: {
    row: 'a piece of the answer of the node',
    columns: {
      block_num: 'height of the block',
      part: '0 the block without transactions; n the transactions (n-1)*16 to n*16-1 with their receipts',
      payload: 'JSON, compressed with zstd',
    },
  },
  block_proofs: {
    row: 'what was proved of a block when it was stored: 0 not looked at, 1 proved, 2 not provable, 3 refuted',
    columns: {
      block_num: 'height of the block',
      header: 'whether the header hashes to its hash',
      transactions_root: 'whether the transactions hash to their root',
      receipts_root: 'whether the receipts hash to their root',
      bloom: 'whether the bloom is that of the logs',
      unprovable_txs: 'transactions of a form that cannot be encoded here and were taken as told',
    },
  },
} as const

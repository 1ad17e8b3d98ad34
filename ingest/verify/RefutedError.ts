import { MillraceError } from '#errors.ts'

/** The parts of a proof, in the order they are checked. */
export const provedParts = ['parent', 'header', 'transactionsRoot', 'receiptsRoot', 'bloom'] as const
export type ProvedPart = (typeof provedParts)[number]

/** A block's content is not what its header commits to. Nothing of the answer may be used. */
export class RefutedError extends MillraceError {
  override readonly name = 'RefutedError'
  readonly code: RefutedCode
  readonly remedy = 'retry'
  readonly part: ProvedPart
  readonly blockNumber: number

  constructor(part: ProvedPart, blockNumber: number) {
    super(`block ${blockNumber}: the node's answer does not match its ${partNames[part]}`)
    this.code = codes[part]
    this.part = part
    this.blockNumber = blockNumber
  }
}

const codes = {
  parent: 'parent_refuted',
  header: 'header_refuted',
  transactionsRoot: 'transactions_root_refuted',
  receiptsRoot: 'receipts_root_refuted',
  bloom: 'bloom_refuted',
} as const
export type RefutedCode = (typeof codes)[ProvedPart]

const partNames: Readonly<Record<ProvedPart, string>> = {
  parent: 'parent',
  header: 'block hash',
  transactionsRoot: 'transactions root',
  receiptsRoot: 'receipts root',
  bloom: 'logs bloom',
}

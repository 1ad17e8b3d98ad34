/** Filters of the list of transactions, by rules over the recording. */
import { commonest, type Oracle, type OracleTransaction } from '../../support/oracle.ts'

/** A moment in seconds, as the API writes it. */
export const iso = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

export type TransactionCase = [string, (tx: OracleTransaction, of: Facts) => boolean]
export interface Facts {
  readonly sender: string
  readonly recipient: string
  readonly feePayer: string
  readonly feeToken: string
  readonly middle: number
}
export const factsOf = ({ transactions, blocks }: Oracle): Facts => ({
  sender: commonest(transactions.map((tx) => tx.sender)),
  recipient: commonest(transactions.map((tx) => tx.recipient)),
  feePayer: commonest(transactions.filter((tx) => tx.feePayer !== tx.sender).map((tx) => tx.feePayer)),
  feeToken: commonest(transactions.map((tx) => tx.feeToken)),
  middle: Number(blocks[60]?.['timestamp']),
})
/** Queries of the list, with the rule by which its rows are chosen; names in braces are of the facts. */
export const transactionCases: readonly TransactionCase[] = [
  ['', () => true],
  ['sender={sender}', (tx, of) => tx.sender === of.sender],
  ['recipient={recipient}', (tx, of) => tx.recipient === of.recipient],
  ['address={sender}', (tx, of) => tx.sender === of.sender || tx.recipient === of.sender],
  [
    'sender={sender}&recipient={recipient}',
    (tx, of) => tx.sender === of.sender && tx.recipient === of.recipient,
  ],
  ['feePayer={feePayer}', (tx, of) => tx.feePayer === of.feePayer],
  ['feeToken={feeToken}', (tx, of) => tx.feeToken === of.feeToken],
  ['status=reverted', (tx) => tx.status === 'reverted'],
  ['status=success', (tx) => tx.status === 'succeeded'],
  ['status=succeeded', (tx) => tx.status === 'succeeded'],
  ['blockNumber.from=40&blockNumber.to=50', (tx) => tx.blockNumber >= 40 && tx.blockNumber <= 50],
  ['timestamp.from={middle}', (tx, of) => tx.timestampSeconds >= of.middle],
  ['timestamp.to={middle}', (tx, of) => tx.timestampSeconds <= of.middle],
  [
    'address={sender}&status=reverted&blockNumber.from=20',
    (tx, of) =>
      (tx.sender === of.sender || tx.recipient === of.sender) &&
      tx.status === 'reverted' &&
      tx.blockNumber >= 20,
  ],
]

/** The query with the facts in the place of their names. */
export const filled = (query: string, facts: Facts) =>
  query.replaceAll(/\{(\w+)\}/g, (_, name: keyof Facts) =>
    typeof facts[name] === 'number' ? iso(facts[name]) : facts[name],
  )

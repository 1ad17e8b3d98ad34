/**
 * The parts of a block that Ethereum's blocks prove of themselves, and blocks of some other chains do not:
 * a chain made of another one's blocks fills in roots of its own, or numbers logs by transaction.
 */
export const looseParts = [
  /** Headers hash in a way that is not known here since a fork; those that do hash are proved. */
  'header',
  /** A transaction's hash is not that of its fields. */
  'transactionHashes',
  'transactionsRoot',
  'receiptsRoot',
  'bloom',
  /** Log indexes begin again or skip: a log has its own where they ascend, else its position. */
  'logIndexes',
  /** Lists that only hashing needs, such as authorizations, are written in a shape of their own. */
  'lists',
] as const

export type LoosePart = (typeof looseParts)[number]

export type Loose = ReadonlySet<LoosePart>

/** Every part is proved, as on Ethereum. */
export const nothingLoose: Loose = new Set()
